const placeOf = ({ topic, partition, offset }) => `${topic}/${partition}@${offset}`;
const countBy = (list, of) =>
  Object.fromEntries([...Map.groupBy(list, of)].map(([name, { length }]) => [name, length]));
const without = (ids, others) => ids.filter((id) => !others.has(id));

/**
 * @typedef {{ topic: string, partition: number, offset: string, id: string | undefined }} LogRecord
 * @typedef {{ topic: string, partition: number, offset: string, state: string | null, code: string | null, attempts: number | null }} Taken
 * @typedef {{ name: string, counts: Record<string, number>, faults: string[] }} Account
 */

/**
 * What we wrote: each committed message is in Kafka, or parked; each of them was read, and nothing was that was not committed.
 *
 * @param {readonly { name: string, committed: string[], parked: string[], log: LogRecord[], read: string[] }[]} kinds
 * @returns {Account[]}
 */
export function accountOutbound(kinds) {
  return kinds.map(({ name, committed, parked, log, read }) => {
    const inKafka = new Set(log.flatMap(({ id }) => id ?? []));
    const [asked, waiting, heard] = [new Set(committed), new Set(parked), new Set(read)];
    const missing = committed.filter((id) => !inKafka.has(id) && !waiting.has(id));
    const unread = without([...inKafka], heard);
    const counts = {
      committed: asked.size,
      inKafka: inKafka.size,
      again: log.length - inKafka.size,
      parked: waiting.size,
      read: heard.size,
    };
    const faults = [
      ...missing.map((id) => `${name}: ${id} was committed, and is neither in Kafka nor parked`),
      ...without([...inKafka], asked).map((id) => `${name}: ${id} is in Kafka, and was never committed`),
      ...unread.map((id) => `${name}: ${id} is in Kafka, and its partner never read it`),
    ];
    return { name, counts, faults };
  });
}

/**
 * What partners wrote: each record ends in exactly one state, each applied one had its effect, what died is exactly the poison, each
 * with its code.
 *
 * @param {readonly { name: string, log: LogRecord[], taken: Taken[], effects: Set<string>, written: string[], poison: Map<string, string> }[]} kinds
 * @returns {Account[]}
 */
export function accountInbound(kinds) {
  return kinds.map((kind) => {
    const { name, log, taken, written, poison } = kind;
    const atPlace = new Map(taken.map((row) => [placeOf(row), row]));
    const first = new Set(log.filter((record) => atPlace.has(placeOf(record))).map(({ id }) => id));
    const ends = log.map((record) => ({ record, ...endOf(record, atPlace.get(placeOf(record)), first, kind) }));
    const inKafka = new Set(log.map(({ id }) => id));
    const { applied = 0, processed = 0, ...others } = countBy(ends, ({ end }) => end);
    const counts = { inKafka: log.length, applied, afterRetries: processed, ...others };
    const faults = [
      ...ends.flatMap(({ record, fault }) => (fault ? `${name}: ${placeOf(record)} (${record.id}) ${fault}` : [])),
      ...without([...new Set(written), ...poison.keys()], inKafka).map(
        (id) => `${name}: ${id} was written, and is not in Kafka`,
      ),
    ];
    return { name, counts, faults };
  });
}

/** How one record ended, and what is wrong with that. */
function endOf(record, row, first, { effects, poison }) {
  const { id } = record;
  if (!row) return first.has(id) ? { end: 'duplicate' } : { end: 'unaccounted', fault: 'has no recorded state' };
  const end = row.state ?? 'applied';
  const hasEffect = id !== undefined && effects.has(id);
  const isApplied = end === 'applied' || end === 'processed';
  if (isApplied && !hasEffect) return { end, fault: `is ${end}, and had no effect` };
  if (!isApplied && hasEffect)
    return { end, fault: `is ${end}${row.code ? ` of ${row.code}` : ''}, and had an effect` };
  const expected = id === undefined ? undefined : poison.get(id);
  if (expected !== undefined && row.code !== expected) {
    return { end, fault: `is ${end} (${row.code}), and must have died of ${expected}` };
  }
  if (end === 'dead' && expected === undefined) return { end, fault: `died of ${row.code}, and is no poison` };
  return { end };
}

/**
 * Everything that does not come out even, in words.
 *
 * @param {{ outbound: Account[], inbound: Account[], told?: Account[], orders: readonly string[], accepted: ReadonlySet<string> }} ledger
 * @returns {string[]}
 */
export function differences({ outbound, inbound, told = [], orders, accepted }) {
  const known = new Set(orders);
  return [
    ...without([...accepted], known).map((order) => `${order} was accepted, and is not there`),
    ...without([...known], accepted).map((order) => `${order} is there, and was never accepted`),
    ...[...outbound, ...inbound, ...told].flatMap(({ faults }) => faults),
  ];
}
