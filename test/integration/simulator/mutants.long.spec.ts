import { randomUUID } from 'node:crypto';
import { exitCodeOf } from '../../../src/simulator/certification/suite';
import type { Message } from '../../../src/simulator/message';
import { access, certified, edited, first, mutant, named, PATIENCE, settingsFor, when, without } from './certifying';
import type { Mutation } from './mutant';

/** Accepts an order anew when the next one shows that the scenario is over. */
function contradictingLater(): Mutation {
  let accepted: readonly Message[] = [];
  return {
    order: (good, { document }) => {
      if (document.orderNumber.includes('-ACCEPT-')) accepted = good;
      if (!document.orderNumber.includes('-REJECT-')) return good;
      return [...first(accepted, ({ headers }) => ({ headers: { ...headers, ce_id: randomUUID() } })), ...good];
    },
  };
}

describe('certification', () => {
  it('passes the measure that the mutants differ from', async () => {
    const { id } = await mutant({});
    expect(named(await certified(settingsFor(id)), 'failed')).toEqual([]);
  });

  it.each<[string, Mutation, string[], RegExp]>([
    [
      'rejects what is to be accepted',
      {
        order: when('-ACCEPT-', (good) =>
          first(
            good,
            edited((document) => ({ ...document, responseCode: 'RE' })),
          ),
        ),
      },
      ['accept'],
      /CERT-ACCEPT with AP/,
    ],
    [
      'accepts too late',
      { order: when('-ACCEPT-', (good) => first(good, () => ({ afterMs: 6_500 }))) },
      ['accept'],
      /Answer every order within 6000 ms/,
    ],
    [
      'accepts what is to be rejected',
      {
        order: when('-REJECT-', (good) =>
          first(
            good,
            edited(({ reason: _, ...more }) => ({ ...more, responseCode: 'AP' })),
          ),
        ),
      },
      ['reject'],
      /CERT-REJECT with RE/,
    ],
    [
      'changes a line that was not ordered',
      {
        order: when('-CHANGE-', (good) =>
          first(
            good,
            edited((document) => ({ ...document, lines: [{ lineNumber: 99, quantity: '1', unitPrice: '1' }] })),
          ),
        ),
      },
      ['change', 'schema'],
      /line-unknown: the order has no line 99 \(\/lines\/0\/lineNumber\)/,
    ],
    [
      'answers a repeat anew',
      {
        order: when('-TWICE-', (good) =>
          first(good, ({ headers }) => ({ headers: { ...headers, ce_id: randomUUID() } })),
        ),
      },
      ['same-request-twice', 'schema'],
      /in the transaction of its effect/,
    ],
    [
      'contradicts its answer behind the end of the scenario',
      contradictingLater(),
      ['schema'],
      /illegal-transition, AP after AP, under another ce_id/,
    ],
    [
      'despatches an order whose cancellation it has agreed to',
      {
        cancellation: (good, { document }, advice) =>
          document.orderNumber.includes('-CANCEL-1') ? [good, advice] : [good],
      },
      ['cancellation-crossing', 'schema'],
      /order-closed, The order was rejected or cancelled/,
    ],
    [
      'does not answer an order with a field that it does not know',
      { order: (good, _, raw) => (raw.includes('certificationNote') ? [] : good) },
      ['unknown-field'],
      /Ignore fields/,
    ],
    [
      'answers the orders of a burst behind their cancellations',
      {
        order: when('-BURST-', (good) => first(good, () => ({ afterMs: 150 }))),
        wish: ({ document }) => (document.orderNumber.includes('-BURST-') ? 'refuse' : 'agree'),
      },
      ['order-per-key'],
      /cancellation-RE, then AP/,
    ],
    [
      'accepts an order whose cancellation it has agreed to',
      { order: when('-CANCEL-', (good) => first(good, () => ({ afterMs: 150 }))) },
      ['cancellation-crossing', 'schema'],
      /AP after the cancellation was agreed/,
    ],
    [
      'does not answer cancellations',
      {
        cancellation: (good, { document }) => (document.orderNumber.includes('-CANCEL-1') ? [] : [good]),
      },
      ['cancellation-crossing'],
      /to its cancellation no answer/,
    ],
    [
      'accepts an order whose quantity is no number',
      { unreadable: (raw) => (raw.includes('2,125') ? 'accept' : 'pass') },
      ['malformed-request'],
      /Never accept what breaks its contract \(a quantity that is no number\)/,
    ],
    [
      'writes another key',
      { order: when('-FIELD-', (good) => first(good, () => ({ key: 'other' }))) },
      ['unknown-field', 'schema'],
      /key-mismatch/,
    ],
    [
      'does not copy the correlation id',
      { order: when('-FIELD-', (good) => first(good, without('ce_correlationid'))) },
      ['unknown-field', 'schema'],
      /correlation-missing/,
    ],
    [
      'writes no message id',
      { order: when('-FIELD-', (good) => first(good, without('ce_id'))) },
      ['unknown-field', 'schema'],
      /message-id-missing/,
    ],
    [
      'breaks the schema',
      {
        order: when('-FIELD-', (good) =>
          first(
            good,
            edited(({ issuedAt: _, ...more }) => more),
          ),
        ),
      },
      ['unknown-field', 'schema'],
      /invalid: is missing \(\/issuedAt\)/,
    ],
  ])('fails a partner that %s, for that reason', async (_, mutation, failing, why) => {
    const { id } = await mutant(mutation);
    const report = await certified(settingsFor(id, { patience: { ...PATIENCE, withinMs: 6_000 } }));
    expect(named(report, 'failed')).toEqual(failing);
    const words = report.results.flatMap(({ verdict, seen, next }) => (verdict === 'failed' ? [...seen, next] : []));
    expect(words.join('\n')).toMatch(why);
    expect(exitCodeOf(report)).toBe(3);
  });

  it('fails a partner that stops at what it cannot read, and says which record it was', async () => {
    const { id } = await mutant({ unreadable: () => 'stop' });
    const patience = { ...PATIENCE, withinMs: 6_000 };
    const { results } = await certified(settingsFor(id, { patience }));
    const malformed = results.find(({ name }) => name === 'malformed-request');
    expect(malformed?.verdict).toBe('failed');
    expect(malformed?.next).toContain('(bytes that are no document) and go on');
    const before = results.slice(
      0,
      results.findIndex(({ name }) => name === 'malformed-request'),
    );
    expect(before.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
  });

  it('fails a partner that does not come back after a restart of the broker', async () => {
    const { id, partner } = await mutant({});
    const sandbox = { restartBroker: () => partner.stop() };
    const patience = { ...PATIENCE, connectMs: 5_000 };
    const report = await certified(settingsFor(id, { sandbox, patience }));
    expect(named(report, 'failed')).toEqual(['broker-restart']);
  });

  it('fails an account that may do more than is its own', async () => {
    const { id } = await mutant({});
    const report = await certified(settingsFor(id, { partnerAccess: access() }));
    expect(named(report, 'failed')).toEqual(['acl']);
    const { seen } = report.results.find(({ name }) => name === 'acl') ?? { seen: [] };
    expect(seen).toEqual(
      expect.arrayContaining([
        'it can write orders to itself',
        'it can make a topic',
        'it can use a foreign consumer group',
      ]),
    );
  });
});
