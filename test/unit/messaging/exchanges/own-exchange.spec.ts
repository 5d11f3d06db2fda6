import { type Exchange, ownExchange } from '../../../../src/messaging/exchanges';

const exchange = (correlationId: string, partner: string) => ({ correlationId, partner }) as Exchange;

describe('the exchange of a message', () => {
  const found = new Map([
    ['mine', exchange('mine', 'acme')],
    ['theirs', exchange('theirs', 'globex')],
  ]);

  test('is its own', () => {
    expect(ownExchange(found, 'acme', 'mine')).toEqual({ ok: true, exchange: found.get('mine') });
  });

  test.each([
    [undefined, 'correlation-missing'],
    ['unheard-of', 'exchange-unknown'],
    ['theirs', 'exchange-foreign'],
  ])('is refused for %s as %s, and never says whose it is', (id, code) => {
    const own = ownExchange(found, 'acme', id);
    expect(own).toMatchObject({ ok: false, outcome: { kind: 'dead', code } });
    expect(JSON.stringify(own)).not.toContain('globex');
  });
});
