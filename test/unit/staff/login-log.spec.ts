import { pino } from 'pino';
import { LoginLog } from '../../../src/staff/login-log';

describe('refused logins in the log', () => {
  it('are a line each up to ten a minute, and the next line counts those that were left out', () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    let now = new Date('2026-03-01T10:00:00Z');
    const logins = new LoginLog(log, { now: () => now });
    for (let attempt = 0; attempt < 500; attempt++) logins.refused('10.0.0.7', 'There is no such API key.', 'trace');
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatchObject({
      ...{ level: 40, msg: 'login refused', code: 'unauthenticated' },
      ...{ origin: '10.0.0.7', reason: 'There is no such API key.', trace: 'trace' },
    });
    now = new Date('2026-03-01T10:01:00Z');
    logins.refused('10.0.0.8', 'The API key has expired.', 'trace');
    logins.refused('10.0.0.8', 'The API key has expired.', 'trace');
    expect(lines.slice(10).map(({ omitted }) => omitted)).toEqual([490, undefined]);
  });
});
