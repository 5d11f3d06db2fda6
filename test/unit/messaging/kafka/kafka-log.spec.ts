import { pino } from 'pino';
import { kafkaLog, kafkaLogLevel } from '../../../../src/messaging/kafka/kafka-log';
import { type LogEntry, logLevel } from '../../../../src/messaging/kafka/kafkajs';

const recorded = (level: string) => {
  const lines: Record<string, unknown>[] = [];
  return {
    lines,
    logger: pino({ level }, { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
  };
};

const entry = (level: logLevel, log: object): LogEntry => ({
  namespace: 'Connection',
  level,
  label: 'X',
  log: { timestamp: '', message: 'hello', ...log },
});

describe("kafkajs' log", () => {
  it('never carries answers, payloads or what is not known to be safe', () => {
    const { lines, logger } = recorded('trace');
    const unsafe = { data: { salt: 's3cret' }, payload: 's3cret', sasl: { password: 's3cret' }, stack: 's3cret' };
    kafkaLog(logger)()(entry(logLevel.DEBUG, { ...unsafe, broker: 'b:1', error: new Error('refused') }));
    expect(lines).toMatchObject([{ level: 10, kafkajs: 'Connection', broker: 'b:1', error: 'refused', msg: 'hello' }]);
    expect(JSON.stringify(lines)).not.toContain('s3cret');
  });

  it('is detail: its errors are debug, the rest is trace', () => {
    const { lines, logger } = recorded('debug');
    for (const level of [logLevel.ERROR, logLevel.WARN, logLevel.INFO, logLevel.DEBUG])
      kafkaLog(logger)()(entry(level, {}));
    expect(lines.map(({ level }) => level)).toEqual([20, 20]);
  });

  it.each([
    ['info', logLevel.NOTHING],
    ['debug', logLevel.WARN],
    ['trace', logLevel.DEBUG],
  ])('is not even built when the level is %s and it would be dropped', (level, expected) => {
    expect(kafkaLogLevel(recorded(level).logger)).toBe(expected);
  });
});
