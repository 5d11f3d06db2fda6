import { accountInbound, accountOutbound, differences } from '../../../scripts/soak/account.mjs';

const record = (id: string | undefined, offset: number, topic = 't') => ({
  topic,
  partition: 0,
  offset: String(offset),
  id,
});
const taken = (offset: number, state: string | null = null, code: string | null = null) => ({
  ...{ topic: 't', partition: 0, offset: String(offset), state, code },
  attempts: state === null ? null : 1,
});

describe('the ledger of what we wrote', () => {
  const kind = { name: 'orders', committed: ['a', 'b'], parked: [], log: [record('a', 0), record('b', 1)] };
  const faultsOf = (change: object) =>
    accountOutbound([{ ...kind, read: ['a', 'b'], ...change }]).flatMap(({ faults }) => faults);

  it('comes out even when each committed message is in Kafka and was read, however often', () => {
    const log = [...kind.log, record('a', 2)];
    const [account] = accountOutbound([{ ...kind, log, read: ['a', 'b', 'a'] }]);
    expect(account).toEqual({
      name: 'orders',
      counts: { committed: 2, inKafka: 2, again: 1, parked: 0, read: 2 },
      faults: [],
    });
  });

  it.each([
    ['was never sent', { log: [record('a', 0)], read: ['a'] }, 'b was committed, and is neither in Kafka nor parked'],
    ['was rolled back', { committed: ['a'] }, 'b is in Kafka, and was never committed'],
    ['was not read', { read: ['a'] }, 'b is in Kafka, and its partner never read it'],
  ])('names what %s', (_, change, words) => expect(faultsOf(change)).toEqual([`orders: ${words}`]));

  it('counts what is parked as accounted for', () =>
    expect(faultsOf({ parked: ['b'], log: [record('a', 0)], read: ['a'] })).toEqual([]));
});

describe('the ledger of what partners wrote', () => {
  const kind = {
    name: 'answers',
    log: [record('a', 0), record('a', 1), record('late', 2), record('bad', 3), record('next', 4)],
    taken: [taken(0), taken(2, 'processed'), taken(3, 'dead', 'invalid'), taken(4, 'held')],
    effects: new Set(['a', 'late']),
    written: ['a', 'late', 'next'],
    poison: new Map([['bad', 'invalid']]),
  };
  const faultsOf = (change: object) => accountInbound([{ ...kind, ...change }]).flatMap(({ faults }) => faults);

  it('gives each record one end', () => {
    const [account] = accountInbound([kind]);
    expect(account).toEqual({
      name: 'answers',
      counts: { inKafka: 5, applied: 1, afterRetries: 1, duplicate: 1, dead: 1, held: 1 },
      faults: [],
    });
  });

  it.each([
    ['was never read', { taken: kind.taken.slice(0, 3) }, 't/0@4 (next) has no recorded state'],
    ['is applied without effect', { effects: new Set(['late']) }, 't/0@0 (a) is applied, and had no effect'],
    ['waits and had an effect', { effects: new Set(['a', 'late', 'next']) }, 't/0@4 (next) is held, and had an effect'],
    ['died and is no poison', { poison: new Map() }, 't/0@3 (bad) died of invalid, and is no poison'],
    [
      'died of something else',
      { poison: new Map([['bad', 'undecodable']]) },
      't/0@3 (bad) is dead (invalid), and must have died of undecodable',
    ],
    ['never reached Kafka', { written: ['a', 'late', 'next', 'gone'] }, 'gone was written, and is not in Kafka'],
  ])('names what %s', (_, change, words) => expect(faultsOf(change)).toEqual([`answers: ${words}`]));

  it('names poison that was taken for good', () => {
    const change = {
      taken: [...kind.taken.slice(0, 2), taken(3), taken(4, 'held')],
      effects: new Set(['a', 'late', 'bad']),
    };
    expect(faultsOf(change)).toEqual(['answers: t/0@3 (bad) is applied (null), and must have died of invalid']);
  });
});

describe('the differences', () => {
  it('are empty when nothing differs, and begin with orders that one side does not know', () => {
    const ledger = { outbound: [], inbound: [{ name: 'answers', counts: {}, faults: ['a fault'] }] };
    const accepted = new Set(['A', 'B']);
    expect(differences({ ...ledger, inbound: [], orders: ['A', 'B'], accepted })).toEqual([]);
    expect(differences({ ...ledger, orders: ['A', 'C'], accepted })).toEqual([
      'B was accepted, and is not there',
      'C is there, and was never accepted',
      'a fault',
    ]);
  });
});
