import { bold, dim, green, red, say, table } from './terminal.mjs';

/** Who speaks what, where, and how many orders went there. */
export function showPlaces(partners, timelines, schemas) {
  const places = [...timelines.values()].flatMap(({ steps }) => steps.filter(({ step }) => step === 'published'));
  const byTopic = Map.groupBy(places, ({ topic }) => topic);
  table([
    ['partner', 'speaks', 'topic', 'schema id', 'messages', 'partitions'],
    ...partners.map(({ id, format }) => {
      const topic = `orders.${id}.request.v1`;
      const list = byTopic.get(topic) ?? [];
      const schema = schemas.find(({ subject }) => subject === `${topic}-parley.v1.OrderRequest`);
      return [id, format, topic, schema?.id ?? '-', list.length, new Set(list.map(({ partition }) => partition)).size];
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
    if (messageId === null) continue;
    say(`    ${dim(`${' '.repeat(28)}message ${messageId}${place && `  ${place}`}`)}`);
  }
}

/** Is it about who was told of the order, and not about the order? */
export const isTold = ({ step }) => step.startsWith('notifi');

/** What happened to an order, in a line. */
export const stepsOf = ({ steps }) =>
  steps.flatMap((one) => (one.step === 'published' || isTold(one) ? [] : one.step)).join(' → ');

/** One order: what it shows, its number, its steps. */
export function showSteps(what, timeline) {
  say(`  ${what.padEnd(46)} ${bold(timeline.orderNumber)}`);
  say(dim(`    ${stepsOf(timeline)}`));
}

/** What a partner said, or was told, in its own words. */
export const showWords = (text) => say(dim(`    “${text}”`));

/** The count; true when nothing is lost, repeated or out of order. */
export function showVerdict(verdict, accepted) {
  const { lost, repeated, outOfOrder, redelivered, answeredAgain, cancellations, despatches } = verdict;
  const mark = (list) => (list.length === 0 ? green(0) : red(list.length));
  const counted = `${accepted} orders, ${cancellations} cancellations, ${despatches} despatches`;
  say(`  ${counted}, held against the partners' journal and the orders' timelines:`);
  say(`    lost ${mark(lost)}   repeated ${mark(repeated)}   out of order ${mark(outOfOrder)}`);
  say(
    dim(
      `    delivered again under the same message id, and dropped by it: to partners ${redelivered}, from them ${answeredAgain}`,
    ),
  );
  for (const fault of [...lost, ...repeated, ...outOfOrder].slice(0, 10)) say(red(`    ${fault}`));
  return lost.length + repeated.length + outOfOrder.length === 0;
}
