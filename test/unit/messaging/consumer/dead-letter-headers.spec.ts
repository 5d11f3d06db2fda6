import { type DeadLetterFacts, deadLetterHeaders } from '../../../../src/messaging/consumer/dlt/dead-letter-headers';

const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text));

const letter = (change: Partial<DeadLetterFacts> = {}): DeadLetterFacts => ({
  topic: 'orders.acme.response.v1',
  partition: 3,
  offset: '9007199254740993',
  recordTime: new Date(1_700_000_000_123),
  headerNames: [],
  headerValues: [],
  code: 'too-early',
  detail: 'The order is not accepted yet.',
  attempts: 12,
  firstFailedAt: new Date('2026-03-01T00:00:00.000Z'),
  fingerprint: 'abc123',
  ...change,
});

const shown = (facts: DeadLetterFacts) =>
  Object.entries(deadLetterHeaders(facts, 'parley')).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? value.toString('hex') : value,
  ]);

describe('headers of a dead letter', () => {
  // spring-kafka: DeadLetterPublishingRecoverer.maybeAddOriginalHeaders writes ByteBuffer.putInt, putLong and UTF-8 text.
  it("are Spring's, in Spring's encodings, and readable twins", () => {
    expect(shown(letter())).toEqual([
      ['kafka_dlt-original-topic', 'orders.acme.response.v1'],
      ['kafka_dlt-original-partition', '00000003'],
      ['kafka_dlt-original-offset', '0020000000000001'],
      ['kafka_dlt-original-timestamp', '0000018bcfe5687b'],
      ['kafka_dlt-original-consumer-group', 'parley'],
      ['kafka_dlt-exception-fqcn', 'parley.too-early'],
      ['kafka_dlt-exception-message', 'The order is not accepted yet.'],
      ['parley-dlt-partition', '3'],
      ['parley-dlt-offset', '9007199254740993'],
      ['parley-dlt-code', 'too-early'],
      ['parley-dlt-attempts', '12'],
      ['parley-dlt-first-failed-at', '2026-03-01T00:00:00.000Z'],
      ['parley-dlt-fingerprint', 'abc123'],
    ]);
  });

  it('stand behind the original ones, which keep their bytes, repeats and missing values', () => {
    const headers = deadLetterHeaders(
      letter({
        headerNames: bytes('b', 'a', 'b', 'none', '__proto__', 'b'),
        headerValues: [Buffer.from([255]), Buffer.alloc(0), null, null, Buffer.from('p'), Buffer.from('3')],
      }),
      'parley',
    );
    expect(Object.keys(headers).slice(0, 4)).toEqual(['b', 'a', 'none', '__proto__']);
    expect([headers['b'], headers['a'], headers['none'], headers['__proto__']]).toEqual([
      [Buffer.from([255]), null, Buffer.from('3')],
      Buffer.alloc(0),
      null,
      Buffer.from('p'),
    ]);
  });

  it('replace what an earlier hop wrote: nothing grows', () => {
    const once = deadLetterHeaders(letter(), 'parley');
    const twice = deadLetterHeaders(
      letter({
        headerNames: bytes(...Object.keys(once), 'kafka_dlt-exception-stacktrace', 'ce_id'),
        headerValues: [
          ...Object.values(once).map((value) => Buffer.from(value as Buffer | string)),
          ...bytes('at com.acme', 'm-1'),
        ],
      }),
      'parley',
    );
    expect(twice).toEqual({ ce_id: Buffer.from('m-1'), ...once });
  });
});
