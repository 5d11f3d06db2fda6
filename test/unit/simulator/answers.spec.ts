import { despatchAdvice, type DespatchAdvice, orderCancellationResponse, orderResponse } from '../../../src/contracts';
import { JsonCodec } from '../../../src/messaging/registry';
import { answersTo, answerToCancellation } from '../../../src/simulator/answers';
import type { Behaviour } from '../../../src/simulator/behaviour';
import { goodsOf } from '../../../src/simulator/despatches';
import type { Request } from '../../../src/simulator/inbound';
import { answerId, type Message } from '../../../src/simulator/message';

const codec = new JsonCodec();
const party = { id: 'acme', format: 'json' as const };
const pace = { delayMs: 5, slowMs: 100, shipMs: 1000 };
const line = (lineNumber: number, quantity: string) => ({
  ...{ lineNumber, quantity, item: 'A', unit: 'C62', unitPrice: '1.50' },
});
const request: Request = {
  kind: 'order-request',
  party,
  id: 'request-1',
  correlationId: 'exchange-1',
  document: {
    orderNumber: 'PO-1',
    issuedAt: '2026-01-02T03:04:05.000Z',
    currency: 'EUR',
    lines: [line(1, '3'), line(2, '0.5')],
  },
};
const answers = (behaviour: Behaviour) => answersTo(request, behaviour, pace, codec);

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
    [
      'ship',
      [
        ['AP', 5],
        ['despatch', 1005],
        ['despatch', 2005],
      ],
    ],
    [
      'over-ship',
      [
        ['AP', 5],
        ['despatch', 1005],
        ['despatch', 2005],
      ],
    ],
    [
      'misprint',
      [
        ['AP', 5],
        ['despatch', 1005],
        ['despatch', 2005],
      ],
    ],
    [
      'ship-early',
      [
        ['despatch', 5],
        ['despatch', 1005],
        ['AP', 105],
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
    expect(await answers('ship')).toEqual(await answers('ship'));
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

  it('to a cancellation are the word that was given, with a reason where it is refused', async () => {
    const cancellation = {
      ...request,
      kind: 'order-cancellation' as const,
      document: { orderNumber: 'PO-1', issuedAt: '2026-01-02T04:00:00.000Z', reason: 'ordered twice' },
    };
    const decoded = async (decision: 'agree' | 'refuse', why?: string) => {
      const { topic, value, headers } = await answerToCancellation(cancellation, decision, why, pace, codec);
      expect(headers).toMatchObject({ ce_type: 'parley.order-cancellation-response.v1', ce_causationid: 'request-1' });
      return codec.decode(orderCancellationResponse, { topic, format: 'json' }, { value, headers });
    };
    expect(await decoded('agree')).toMatchObject({ value: { orderNumber: 'PO-1', responseCode: 'AP' } });
    expect(await decoded('refuse', 'Too late.')).toMatchObject({ value: { responseCode: 'RE', reason: 'Too late.' } });
  });
});

describe('the despatches', () => {
  const goods = (behaviour: Behaviour, ...quantities: string[]) =>
    goodsOf({ lines: quantities.map((quantity, index) => line(index + 1, quantity)) }, behaviour).map((lines) =>
      lines.map(({ lineNumber, quantity }) => `${lineNumber}:${quantity}`),
    );

  it('of an order with one line go at once, of several lines in two parts that make the whole', () => {
    expect(goods('ship', '12.5')).toEqual([['1:12.5']]);
    expect(goods('ship', '3', '0.000001', '999999999999999999.999999')).toEqual([
      ['1:1.5', '3:499999999999999999.999999'],
      ['1:1.5', '2:0.000001', '3:500000000000000000'],
    ]);
    expect(goods('ship', '0.000001', '0.000001')).toEqual([['1:0.000001', '2:0.000001']]);
  });

  it('begin with one too many where the partner over-ships, unless that is no decimal any more', () => {
    expect(goods('over-ship', '3', '1')).toEqual([
      ['1:4', '2:1'],
      ['1:3', '2:1'],
    ]);
    expect(goods('over-ship', '999999999999999999')).toEqual([['1:999999999999999999']]);
  });

  it('are exchanges of their own under numbers of their own', async () => {
    const [, first, second] = await answers('ship');
    expect(first?.topic).toBe('shipments.acme.request.v1');
    const correlations = [first, second].map((message) => message?.headers['ce_correlationid']);
    expect(new Set([...correlations, 'exchange-1']).size).toBe(3);
    const { value, topic, headers } = first as Message;
    const decoded = await codec.decode(despatchAdvice, { topic, format: 'json' }, { value, headers });
    expect(decoded).toMatchObject({ ok: true, value: { orderNumber: 'PO-1', despatchNumber: 'D-PO-1-1' } });
    expect(second?.despatchNumber).toBe('D-PO-1-2');
  });

  it('of a partner that misprints have a comma in the first quantity, and are documents all the same', async () => {
    const [, first, second] = await answers('misprint');
    const decode = ({ value, topic, headers }: Message) =>
      codec.decode(despatchAdvice, { topic, format: 'json' }, { value, headers });
    expect(await decode(first as Message)).toMatchObject({
      ok: false,
      error: { code: 'invalid', pointer: '/lines/0/quantity' },
      broken: { despatchNumber: 'D-PO-1-1', lines: [{ quantity: '1,5' }, { quantity: '0.25' }] },
    });
    expect(await decode(second as Message)).toMatchObject({ ok: true });
  });

  it('have numbers that fit the contract also where the order number is the longest', async () => {
    const document = { ...request.document, orderNumber: 'N'.repeat(64) };
    const messages = await answersTo({ ...request, document }, 'ship', pace, codec);
    const numbers = messages.flatMap(({ topic, value }) =>
      topic.startsWith('shipments') ? (JSON.parse(String(value)) as DespatchAdvice).despatchNumber : [],
    );
    expect(new Set(numbers).size).toBe(2);
    for (const number of numbers) expect(number.length).toBeLessThanOrEqual(64);
  });
});
