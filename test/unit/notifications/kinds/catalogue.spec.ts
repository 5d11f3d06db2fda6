import { KINDS, kindOf } from '../../../../src/notifications/kinds/catalogue';

const MINUTE = 60_000;

describe('the catalogue of kinds', () => {
  it('says of each what becomes of it in doubt, and whether it may disturb', () => {
    expect(Object.fromEntries(KINDS.map(({ name, crash, quietHours }) => [name, `${crash}, ${quietHours}`]))).toEqual({
      'order-accepted': 'look-up, respect',
      'order-rejected': 'look-up, respect',
      'order-changed': 'look-up, respect',
      'order-shipped': 'look-up, respect',
      'order-overdue': 'repeat, ignore',
      'partner-silent': 'repeat, ignore',
      'dead-letters-open': 'repeat, ignore',
      'webhook-disabled': 'repeat, ignore',
      test: 'repeat, ignore',
      'confirmation-code': 'repeat, ignore',
      announcement: 'skip, respect',
      message: 'look-up, respect',
    });
  });

  it('lets codes and tests go first, and what can wait behind alerts', () => {
    const of = (urgency: string) => KINDS.filter((kind) => kind.urgency === urgency).map(({ name }) => name);
    expect(of('high')).toEqual(['test', 'confirmation-code']);
    expect(of('normal')).toEqual(['order-overdue', 'partner-silent', 'dead-letters-open', 'webhook-disabled']);
    expect(of('low')).toHaveLength(KINDS.length - 6);
  });

  it('has each name once, and knows no other', () => {
    expect(new Set(KINDS.map(({ name }) => name)).size).toBe(KINDS.length);
    for (const kind of KINDS) expect(kindOf(kind.name)).toBe(kind);
    for (const name of ['', 'constructor', 'Order-Accepted']) expect(kindOf(name)).toBeUndefined();
  });

  it('gives each an example of all that it has, and names, channels and times that make sense', () => {
    for (const { name, channels, required, example, expiresMs, retry, summary } of KINDS) {
      expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(summary).toMatch(/^[A-Z].*\.$/);
      expect(new Set(channels).size).toBe(channels.length);
      for (const member of required) expect(example).toHaveProperty(member);
      expect(JSON.parse(JSON.stringify(example))).toEqual(example);
      expect(retry.initialMs).toBeLessThanOrEqual(retry.maxMs);
      expect(retry.maxMs).toBeLessThan(expiresMs);
      expect(retry.attempts).toBeGreaterThan(3);
    }
  });

  it('keeps a code secret and short-lived', () => {
    expect(kindOf('confirmation-code')).toMatchObject({ secret: true, expiresMs: 10 * MINUTE, source: 'request' });
    expect(KINDS.filter(({ secret }) => secret)).toHaveLength(1);
  });
});
