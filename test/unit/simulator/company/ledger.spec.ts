import type { Heard, Said } from '../../../../src/simulator/company/heard';
import { type Exchange, Ledger, openOf } from '../../../../src/simulator/company/ledger';
import { orderDocument } from '../../../../src/simulator/company/requests';

const request = orderDocument('A-1', ['X', 'Y'], '2', new Date('2026-01-02T03:04:05.000Z'));
const exchange = (kind: Exchange['kind'], correlationId: string): Exchange => ({
  ...{ kind, correlationId, order: 'A-1', id: `${correlationId}-request` },
  writtenAt: 1_000,
  answers: [],
});

function opened() {
  const ledger = new Ledger();
  const [order, cancellation] = [exchange('order', 'c-order'), exchange('cancellation', 'c-cancel')];
  ledger.opened(order, request);
  ledger.opened(cancellation);
  return { ledger, order, cancellation };
}

const said = (
  kind: 'order-response' | 'order-cancellation-response',
  responseCode: string,
  more: object = {},
): Said => ({ kind, document: { orderNumber: 'A-1', responseCode, issuedAt: request.issuedAt, ...more } });
const advice = (quantity: string, lineNumber = 1): Said => ({
  kind: 'despatch-advice',
  document: {
    ...{ orderNumber: 'A-1', despatchNumber: `D-${quantity}`, issuedAt: request.issuedAt },
    lines: [{ lineNumber, quantity }],
  },
});

let offset = 0;
function heard(id: string, what: Heard['said'], more: Partial<Heard> = {}, correlationId?: string): Heard {
  const isOrder = 'kind' in what && what.kind === 'order-response';
  return {
    ...{ topic: 't', partition: 0, offset: String(offset++), key: 'A-1', at: 1_250 },
    envelope: { id, correlationId: correlationId ?? (isOrder ? 'c-order' : 'c-cancel') },
    hash: JSON.stringify(what),
    said: what,
    ...more,
  };
}

const order = (code: string, more: object = {}) => said('order-response', code, more);
const cancellation = (code: string) => said('order-cancellation-response', code);

/** What the last of several answers came to. */
function lastOf(...answers: readonly Heard[]) {
  const { ledger } = opened();
  const findings = answers.map((one) => ledger.take(one));
  const last = findings.at(-1);
  return last?.kind === 'fault' ? last.fault.code : last?.kind;
}

describe('the company’s ledger', () => {
  it('takes an interim answer, the final one, and its repeat', () => {
    const { ledger, order: asked } = opened();
    for (const [id, code] of [
      ['1', 'AB'],
      ['2', 'AP'],
      ['2', 'AP'],
    ] as const) {
      expect(ledger.take(heard(id, order(code))).kind).toBe('answered');
    }
    expect(asked.answers.map(({ code, isRepeat }) => [code, isRepeat])).toEqual([
      ['AB', false],
      ['AP', false],
      ['AP', true],
    ]);
    expect(ledger.orders.get('A-1')?.words).toEqual(['AB', 'AP']);
    expect(ledger.faults).toEqual([]);
  });

  it.each<[string, string, Heard[]]>([
    ['a second final answer', 'illegal-transition', [heard('1', order('AP')), heard('2', order('AP'))]],
    [
      'an interim answer behind the final one',
      'illegal-transition',
      [heard('1', order('RE')), heard('2', order('AB'))],
    ],
    [
      'an acceptance of what was agreed to be cancelled',
      'illegal-transition',
      [heard('1', cancellation('AP')), heard('2', order('AP'))],
    ],
    [
      'two answers to a cancellation',
      'illegal-transition',
      [heard('1', cancellation('RE')), heard('2', cancellation('AP'))],
    ],
    [
      'an agreement to cancel what was despatched',
      'illegal-transition',
      [heard('1', order('AP')), heard('2', advice('1'), {}, 'c-new'), heard('3', cancellation('AP'))],
    ],
    ['another document under the same id', 'message-id-reused', [heard('1', order('AB')), heard('1', order('AP'))]],
    ['no correlation id', 'correlation-missing', [heard('1', order('AP'), { envelope: { id: '1' } })]],
    ['one that nobody gave', 'exchange-unknown', [heard('1', order('AP'), {}, 'c-other')]],
    ['one of the other request', 'exchange-mismatch', [heard('1', order('AP'), {}, 'c-cancel')]],
    ['a code of no list', 'response-code-unknown', [heard('1', order('XX'))]],
    [
      'a line that was not ordered',
      'line-unknown',
      [heard('1', order('CA', { lines: [{ lineNumber: 3, quantity: '1', unitPrice: '1' }] }))],
    ],
    [
      'a line twice',
      'line-repeated',
      [heard('1', order('CA', { lines: [1, 1].map((lineNumber) => ({ lineNumber, quantity: '1', unitPrice: '1' })) }))],
    ],
    ['bytes that are no document', 'undecodable', [heard('1', { code: 'undecodable', detail: 'no' }, { key: null })]],
  ])('finds %s', (_, code, answers) => {
    expect(lastOf(...answers)).toBe(code);
  });

  it.each([
    ['a rejection behind an agreed cancellation', heard('1', cancellation('AP')), heard('2', order('RE'))],
    ['a refused cancellation behind the acceptance', heard('1', order('AP')), heard('2', cancellation('RE'))],
    ['an agreed one behind a change', heard('1', order('CA')), heard('2', cancellation('AP'))],
  ])('takes %s', (_, ...answers) => {
    expect(lastOf(...answers)).toBe('answered');
  });

  it('leaves alone what speaks of somebody else’s order', () => {
    const { ledger } = opened();
    const foreign: Said = {
      kind: 'order-response',
      document: { orderNumber: 'B-1', responseCode: 'AP', issuedAt: '' },
    };
    expect(ledger.take(heard('1', foreign, { key: 'B-1' }, 'c-B')).kind).toBe('foreign');
    expect(ledger.take(heard('2', { code: 'invalid', detail: '' }, { key: 'B-1' }, 'c-B')).kind).toBe('foreign');
    expect(ledger.faults).toEqual([]);
    const all = new Ledger(true);
    expect(all.take(heard('1', { code: 'invalid', detail: '' }, { key: 'B-1' }, 'c-B')).kind).toBe('fault');
    expect(all.take(heard('2', foreign, { key: 'B-1' }, 'c-B')).kind).toBe('foreign');
  });

  it('gives receipts: the same for the same advice, none for more than was ordered or of what is cancelled', () => {
    const { ledger } = opened();
    const receipt = (id: string, quantity: string, line?: number) => {
      const finding = ledger.take(heard(id, advice(quantity, line), {}, `c-${id}`));
      return finding.kind === 'despatched' ? (finding.receipt.reasonCode ?? finding.receipt.receiptCode) : finding.kind;
    };
    ledger.take(heard('1', order('AP')));
    expect(receipt('2', '1.5')).toBe('AP');
    expect(receipt('3', '0.500001')).toBe('over-delivery');
    expect(receipt('2', '1.5')).toBe('AP');
    expect(receipt('3', '0.500001')).toBe('over-delivery');
    expect(receipt('4', '0.5')).toBe('AP');
    expect(receipt('5', '1', 9)).toBe('line-unknown');
    const { ledger: other } = opened();
    other.take(heard('1', cancellation('AP')));
    expect(other.take(heard('2', advice('1'), {}, 'c-2'))).toMatchObject({ receipt: { reasonCode: 'order-closed' } });
  });

  it('counts as open what lacks its final answer, but not the order whose cancellation was agreed', () => {
    const { ledger, order: asked, cancellation: cancelled } = opened();
    expect(openOf([asked, cancelled])).toEqual([asked, cancelled]);
    ledger.take(heard('1', order('AB')));
    expect(openOf([asked])).toEqual([asked]);
    ledger.take(heard('2', cancellation('AP')));
    expect(openOf([asked, cancelled])).toEqual([]);
  });
});
