import { dim, say, table } from '../demo/terminal.mjs';

const STATES = ['duplicate', 'waiting', 'held', 'dead', 'discarded', 'unaccounted'];

/** Both directions; each row comes out even: what is in Kafka is the sum of the columns behind it. */
export function showLedger(outbound, inbound) {
  say(dim('  from us to the partners'));
  table([
    ['', 'committed', 'in Kafka', 'again', 'parked', 'read'],
    ...outbound.map(({ name, counts }) => [
      name,
      ...['committed', 'inKafka', 'again', 'parked', 'read'].map((key) => counts[key]),
    ]),
  ]);
  say(dim('  from the partners to us: in Kafka = applied + after retries + what follows'));
  table([
    ['', 'in Kafka', 'applied', 'after retries', ...STATES],
    ...inbound.map(({ name, counts }) => [
      name,
      ...['inKafka', 'applied', 'afterRetries', ...STATES].map((key) => counts[key] ?? 0),
    ]),
  ]);
  const sum = (key) => inbound.reduce((total, { counts }) => total + (counts[key] ?? 0), 0);
  const share = (count) => `${count} (${((100 * count) / sum('inKafka')).toFixed(1)} %)`;
  say(dim(`  healed by a retry, or behind one: ${share(sum('afterRetries'))}   dead: ${share(sum('dead'))}`));
}

const ENDS = ['sent', 'failed', 'unknown', 'cancelled', 'expired', 'waiting'];

/** What was to be told, and what came of it. */
export function showTold(accounts) {
  say(
    dim('  from us to people and systems: made = sent + what follows; received: at mail server, SMS provider, webhook'),
  );
  table([
    ['', 'made', ...ENDS, 'received', 'twice'],
    ...accounts.flatMap(({ name, counts }) =>
      counts.made === undefined
        ? []
        : [[name, ...['made', ...ENDS, 'received', 'again'].map((key) => counts[key] ?? 0)]],
    ),
  ]);
}
