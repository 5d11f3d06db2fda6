import { readFileSync } from 'node:fs';
import { expectationOf } from './expectation.mjs';

/** Steps that change something, or record that a partner said what changes nothing. */
const EFFECTS = new Set([
  ...['placed', 'acknowledged', 'accepted', 'rejected', 'changed', 'partly-shipped', 'shipped', 'despatch-refused'],
  ...['cancellation-requested', 'cancelled', 'cancellation-agreed', 'cancellation-refused', 'answer-noted'],
]);

/**
 * @typedef {import('./expectation.mjs').Line} Line
 * @typedef {{ step: string, messageId: string, topic: string | null, partition: number | null, offset: string | null }} Step
 * @typedef {{ lost: string[], repeated: string[], outOfOrder: string[], redelivered: number, answeredAgain: number, cancellations: number, despatches: number }} Verdict
 */

/**
 * @param {string} file
 * @returns {Line[]}
 */
export function readJournal(file) {
  const text = readFileSync(file, 'utf8');
  // The last line may be half written.
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * The lines that speak of an order, by its number.
 *
 * @param {readonly Line[]} journal
 */
export function byOrder(journal) {
  return Map.groupBy(
    journal.filter(({ order }) => order !== undefined),
    ({ order = '' }) => order,
  );
}

/**
 * Holds what was accepted against what the partners saw and did, and what came of it.
 *
 * lost: accepted (an order, a cancellation), and the partner never saw it; or it answered or despatched, and that had no
 * effect or got no receipt; or both sides end differently.
 * repeated: an effect that happened twice: the partner was asked under two message ids, an order went through a step
 * twice or through one that nobody caused, a despatch got two receipts, or the partner was asked for what was never accepted.
 * outOfOrder: an order's steps, or the places of its messages in their topic, run backwards.
 * redelivered is no fault: the same message id at another offset, as at-least-once promises; whoever gets it drops it.
 *
 * @param {Iterable<string>} accepted order numbers
 * @param {readonly Line[]} journal
 * @param {ReadonlyMap<string, { state?: string, steps: readonly Step[] }>} timelines
 * @param {Iterable<string>} asked numbers of orders whose cancellation was accepted
 * @returns {Verdict}
 */
export function compare(accepted, journal, timelines, asked = []) {
  const lines = byOrder(journal);
  const orders = new Set(accepted);
  const cancellations = new Set(asked);
  const faults = { lost: [], repeated: [], outOfOrder: [] };
  for (const order of lines.keys()) {
    if (!orders.has(order)) faults.repeated.push(`${order}: never accepted`);
  }
  for (const order of orders) {
    judge(order, lines.get(order) ?? [], timelines.get(order), cancellations.has(order), faults);
  }
  const despatches = new Set(journal.flatMap((line) => (line.kind === 'despatching' ? line.id : [])));
  return { ...faults, ...repeats(journal), cancellations: cancellations.size, despatches: despatches.size };
}

/** One order: its faults are added. */
function judge(order, lines, timeline, isAsked, { lost, repeated, outOfOrder }) {
  const of = (kind) => lines.filter((line) => line.kind === kind);
  const idsOf = (list) => new Set(list.map(({ id }) => id));
  const expected = expectationOf(lines, isAsked);
  if (!expected) return lost.push(`${order}: the partner never saw it`);
  if (idsOf(of('seen')).size > 1) repeated.push(`${order}: asked for under two message ids`);
  const asks = idsOf(of('cancelling')).size;
  if (asks < Number(isAsked)) lost.push(`${order}: the partner never saw its cancellation`);
  if (asks > Number(isAsked)) repeated.push(`${order}: asked to cancel it ${asks} times for ${Number(isAsked)}`);
  const steps = timeline?.steps ?? [];
  const names = steps.map(({ step }) => step).filter((step) => EFFECTS.has(step));
  const all = [...expected.order, ...expected.cancellation];
  const story = names.join(', ') || 'nothing';
  if (missing(all, names).length > 0) lost.push(`${order}: ${story} happened, not ${missing(all, names).join(', ')}`);
  if (missing(names, all).length > 0) repeated.push(`${order}: ${story}`);
  if (timeline?.state !== undefined && timeline.state !== expected.state) {
    lost.push(`${order}: ends ${timeline.state} here, ${expected.state} with the partner`);
  }
  judgeReceipts(order, of, { lost, repeated });
  const chains = [expected.order, expected.cancellation];
  if (chains.some((chain) => !inOrder(names, chain)) || placesRunBackwards(steps))
    outOfOrder.push(`${order}: ${story}`);
}

/** A receipt for each despatch, and one only. */
function judgeReceipts(order, of, { lost, repeated }) {
  const receipts = Map.groupBy(of('receipt'), ({ despatchNumber }) => despatchNumber);
  const despatches = new Set(of('despatching').map(({ despatchNumber }) => despatchNumber));
  for (const number of despatches) {
    if (!receipts.has(number)) lost.push(`${order}: no receipt for ${number}`);
  }
  for (const [number, list] of receipts) {
    if (new Set(list.map(({ id }) => id)).size > 1) repeated.push(`${order}: two receipts for ${number}`);
    if (!despatches.has(number)) repeated.push(`${order}: a receipt for ${number}, which was never sent`);
  }
}

/** What of `wanted` is not in `there`, counted. */
function missing(wanted, there) {
  const left = [...there];
  return wanted.filter((step) => {
    const at = left.indexOf(step);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Do those of the names that are steps of the chain come in its order? */
function inOrder(names, chain) {
  const places = names.filter((name) => chain.includes(name)).map((name) => chain.indexOf(name));
  return places.every((place, index) => index === 0 || place >= places[index - 1]);
}

/** Messages of an order lie in one partition of a topic, so their offsets tell their order. */
function placesRunBackwards(steps) {
  const placed = steps.filter(({ step, offset }) => offset !== null && (step === 'published' || EFFECTS.has(step)));
  const lanes = Map.groupBy(placed, ({ topic, partition }) => `${topic}/${partition}`);
  return [...lanes.values()].some((lane) =>
    lane.some(({ offset }, index) => index > 0 && BigInt(offset) < BigInt(lane[index - 1].offset)),
  );
}

/** Messages that came again under their id. A record that the partner itself read twice has one place, and counts once. */
function repeats(journal) {
  const again = (keys) => keys.length - new Set(keys.map(([id]) => id)).size;
  const places = new Map();
  for (const { kind, id, partition, offset } of journal) {
    if (['seen', 'cancelling', 'receipt'].includes(kind)) places.set(`${id}/${partition}/${offset}`, [id]);
  }
  const answers = journal.filter((line) => line.kind === 'answered');
  return { redelivered: again([...places.values()]), answeredAgain: again(answers.map((line) => [line.id])) };
}
