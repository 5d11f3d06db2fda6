import { bold, dim, green, red, say, table } from './terminal.mjs';

/** Where the orders lie in Kafka, by partition, and how they ended. */
export function showPlaces(timelines) {
  const places = [...timelines.values()].flatMap(({ steps }) => steps.filter(({ step }) => step === 'published'));
  const byPartition = Map.groupBy(places, ({ partition }) => partition);
  const rows = [...byPartition].sort(([a], [b]) => a - b);
  say(`  published to ${places[0]?.topic ?? '-'}:`);
  table([
    ['partition', 'orders', 'offsets'],
    ...rows.map(([partition, list]) => {
      const offsets = list.map(({ offset }) => Number(offset));
      return [partition, list.length, `${Math.min(...offsets)}–${Math.max(...offsets)}`];
    }),
  ]);
}

export function showStates(timelines) {
  const states = Map.groupBy([...timelines.values()], ({ state }) => state);
  say(`  final states: ${[...states].map(([state, list]) => `${state} ${list.length}`).join(', ')}`);
}

/** One order, line by line. */
export function showStory({ orderNumber, steps }) {
  say(`  order ${bold(orderNumber)}`);
  for (const { at, step, text, topic, partition, offset, messageId } of steps) {
    const time = at ? at.slice(11, 23) : '            ';
    const place = offset === null ? '' : `${topic} [${partition}] @${offset}`;
    say(`    ${dim(time)}  ${step.padEnd(13)} ${text}`);
    say(`    ${dim(`${' '.repeat(28)}message ${messageId}${place && `  ${place}`}`)}`);
  }
}

/** The count; true when nothing is lost, repeated or out of order. */
export function showVerdict(verdict, accepted) {
  const { lost, repeated, outOfOrder, redelivered, answeredAgain } = verdict;
  const mark = (list) => (list.length === 0 ? green(0) : red(list.length));
  say(`  ${accepted} accepted orders held against the partner's journal and the orders' timelines:`);
  say(`    lost ${mark(lost)}   repeated ${mark(repeated)}   out of order ${mark(outOfOrder)}`);
  say(
    dim(
      `    delivered again under the same message id, and dropped by it: requests ${redelivered}, answers ${answeredAgain}`,
    ),
  );
  for (const fault of [...lost, ...repeated, ...outOfOrder].slice(0, 10)) say(red(`    ${fault}`));
  return lost.length + repeated.length + outOfOrder.length === 0;
}
