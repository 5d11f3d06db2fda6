import { orderResponse } from '../../../src/contracts';
import { JsonCodec } from '../../../src/messaging/registry';
import { answerId, answersTo } from '../../../src/simulator/answers';
import type { Behaviour } from '../../../src/simulator/behaviour';

const codec = new JsonCodec();
const request = {
  partner: 'acme',
  id: 'request-1',
  correlationId: 'exchange-1',
  document: {
    orderNumber: 'PO-1',
    issuedAt: '2026-01-02T03:04:05.000Z',
    currency: 'EUR',
    lines: [{ lineNumber: 1, item: 'A', quantity: '3', unit: 'C62', unitPrice: '1.50' }],
  },
};
const answers = (behaviour: Behaviour) => answersTo(request, behaviour, { delayMs: 5, slowMs: 100 }, codec);

describe('the answers', () => {
  it.each<[Behaviour, [string, number][]]>([
    ['accept', [['AP', 5]]],
    ['reject', [['RE', 5]]],
    ['change', [['CA', 5]]],
    [
      'slow',
      [
        ['AB', 5],
        ['AP', 105],
      ],
    ],
    ['silent', []],
    [
      'duplicate',
      [
        ['AP', 5],
        ['AP', 5],
      ],
    ],
    [
      'garbage',
      [
        ['garbage', 5],
        ['AP', 5],
      ],
    ],
  ])('of a partner that plays %s', async (behaviour, expected) => {
    expect((await answers(behaviour)).map(({ code, afterMs }) => [code, afterMs])).toEqual(expected);
  });

  it('name the exchange and the request that caused them', async () => {
    const [answer] = await answers('accept');
    expect(answer).toMatchObject({ topic: 'orders.acme.response.v1', key: 'PO-1' });
    expect(answer?.headers).toMatchObject({
      ce_id: answerId('request-1', 'AP'),
      ce_type: 'parley.order-response.v1',
      ce_correlationid: 'exchange-1',
      ce_causationid: 'request-1',
      ce_subject: 'PO-1',
    });
  });

  it('to a request that is read again are the same in id and bytes', async () => {
    expect(await answers('slow')).toEqual(await answers('slow'));
  });

  it('have ids that are UUIDs of version 5, one for each code', () => {
    const ids = ['AB', 'AP'].map((code) => answerId('request-1', code));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('are documents of the contract, and garbage is none', async () => {
    const [garbage, answer] = await answers('garbage');
    const decode = (value?: Buffer) =>
      codec.decode(orderResponse, { topic: 't', format: 'json' }, { value: value ?? Buffer.alloc(0), headers: {} });
    expect(await decode(answer?.value)).toMatchObject({ ok: true });
    expect(await decode(garbage?.value)).toMatchObject({ ok: false, error: { code: 'undecodable' } });
  });
});
