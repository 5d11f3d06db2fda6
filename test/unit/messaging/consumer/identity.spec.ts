import { type Cause, fingerprintOf, infrastructureOf, outcomeOf } from '../../../../src/messaging/consumer/failure';
import { contentHash, keyTextOf, placeOf } from '../../../../src/messaging/consumer/record-identity';
import { isIdText, storableText } from '../../../../src/messaging/consumer/text';
import type { InboundRecord } from '../../../../src/messaging/kafka';
import { RegistryUnavailable } from '../../../../src/messaging/registry';
import { AppError, NonRetriableError } from '../../../../src/platform/errors';

const record = (key: string | null, value: string | null): InboundRecord => ({
  topic: 't',
  partition: 3,
  offset: 9007199254740993n,
  timestamp: 0,
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
  headers: {},
});

describe('the identity of a record', () => {
  test('is its place where its id can not be, exact at any offset', () => {
    expect(placeOf(record(null, null))).toBe('t/3/9007199254740993');
  });

  test('is a hash that no other pair of key and value has', () => {
    const pairs: [string | null, string | null][] = [
      ['a', 'b'],
      ['ab', ''],
      ['', 'ab'],
      [null, 'ab'],
      ['ab', null],
      [null, ''],
      ['', null],
      [null, null],
      ['', ''],
    ];
    expect(new Set(pairs.map(([key, value]) => contentHash(record(key, value)))).size).toBe(pairs.length);
    expect(contentHash(record('a', 'b'))).toBe(contentHash(record('a', 'b')));
    expect(contentHash(record('a', 'b'))).toMatch(/^[0-9a-f]{32}$/);
  });

  test('has a key of text, or the digest of one that is none', () => {
    expect(keyTextOf(null)).toBeNull();
    expect(keyTextOf(Buffer.from('Bestellung-ä'))).toBe('Bestellung-ä');
    const odd = [
      Buffer.alloc(0),
      Buffer.from([0xc3, 0x28]),
      Buffer.from([0xc3, 0x29]),
      Buffer.from('a\0'),
      Buffer.alloc(300, 'x'),
    ];
    const texts = odd.map((key) => keyTextOf(key));
    expect(new Set(texts).size).toBe(odd.length);
    for (const text of texts) expect(text).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('text from outside', () => {
  test('is an id only where it is bounded and free of control characters', () => {
    expect(['a', 'ä-1/2', 'x'.repeat(255)].every(isIdText)).toBe(true);
    expect(['', 'a\0', 'a\nb', '\x7f', 'x'.repeat(256)].some(isIdText)).toBe(false);
  });

  test('is made fit for a text column, without half a character at the cut', () => {
    expect(storableText('a\0b')).toBe('a\ufffdb');
    expect(storableText('ab\u{1f600}', 3)).toBe('ab\ufffd');
  });
});

describe('a failure', () => {
  const database = (code: string) => Object.assign(new Error('x'), { code });

  test.each([
    '08006',
    '57P01',
    '57P03',
    '53300',
    '53100',
    '40P01',
    '40001',
    '25006',
    '28P01',
    '3D000',
    '58030',
    'ECONNREFUSED',
  ])("%s is our infrastructure, nobody's poison", (code) => {
    expect(infrastructureOf(database(code))).toBe('database');
  });

  test.each(['57014', '25P02', '25P04', '23505', '22P05', '42P01'])('%s is not', (code) => {
    expect(infrastructureOf(database(code))).toBeUndefined();
  });

  test.each(['Connection terminated unexpectedly', 'timeout exceeded when trying to connect'])(
    'that the driver words "%s" is our infrastructure',
    (message) => expect(infrastructureOf(new Error(message))).toBe('database'),
  );

  test.each([
    ['a refused statement', Object.assign(new Error('not JSON: "Connection terminated"'), { code: '22P02' })],
    ['an error with a code of ours', new AppError('carrier-silent', 'The timeout expired.')],
  ])("is the record's where only the text of %s speaks of a connection", (_, error) => {
    expect(infrastructureOf(error)).toBeUndefined();
  });

  test('of the registry is an outage of ours too', () => {
    expect(infrastructureOf(new RegistryUnavailable('away'))).toBe('registry');
    expect(infrastructureOf(new TypeError('bug'))).toBeUndefined();
  });

  test('of a handler is an attempt, unless it says that no retry heals it', () => {
    expect(outcomeOf(new TypeError('bug'))).toMatchObject({ kind: 'retry', code: 'handler-failed', detail: 'bug' });
    expect(outcomeOf('thrown text')).toMatchObject({ kind: 'retry', detail: 'thrown text' });
    expect(outcomeOf(new AppError('later', 'x'))).toMatchObject({ kind: 'retry', code: 'later' });
    expect(outcomeOf(new NonRetriableError('never', 'x'))).toMatchObject({ kind: 'dead', code: 'never' });
    expect(outcomeOf(database('57014'))).toMatchObject({ kind: 'retry', code: 'statement-timeout' });
  });

  test('keeps the chain of its causes, by class and message, and never the parameters of a statement', () => {
    const refused = Object.assign(database('23505'), {
      message: 'duplicate key',
      parameters: ['secret'],
      detail: 'secret',
    });
    const { rootCause, classes } = outcomeOf(new AppError('stock-unknown', 'Ask again.', { cause: refused }));
    expect(rootCause).toBe('AppError(stock-unknown): Ask again.\ncaused by Error(23505): duplicate key');
    expect(classes).toEqual(['AppError(stock-unknown)', 'Error(23505)']);
  });

  test('keeps a bounded text that any text column takes, whatever was thrown', () => {
    const endless = new Error(`a\0b${'x'.repeat(3000)}`);
    endless.cause = endless;
    expect(outcomeOf(endless).rootCause.length).toBe(2000);
    expect(outcomeOf(endless).rootCause).not.toContain('\0');
    expect(outcomeOf(null)).toMatchObject({ kind: 'retry', rootCause: '' });
  });

  test('has the fingerprint of others of its cause, whatever their texts say', () => {
    const cause: Cause = {
      code: 'c',
      type: 't',
      pointer: '/lines/3/quantity',
      failedIn: 'exception',
      classes: ['TypeError'],
    };
    const print = (change: Partial<Cause> = {}) => fingerprintOf({ ...cause, ...change });
    expect(print({ pointer: '/lines/17/quantity' })).toBe(print());
    const others: Partial<Cause>[] = [
      { code: 'd' },
      { type: undefined },
      { pointer: '/lines/3/price' },
      { failedIn: 'handler' },
      { classes: ['RangeError'] },
    ];
    expect(new Set([print(), ...others.map(print)]).size).toBe(6);
    // Kept with every dead letter: a change would tear groups apart.
    expect(print()).toBe('096d89b3c8b1d9ff');
  });
});
