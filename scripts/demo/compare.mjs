import { readFileSync } from 'node:fs';

/** Steps that an order goes through when the partner behaves so, and nothing else happens. */
const EXPECTED = {
  accept: ['placed', 'accepted'],
  reject: ['placed', 'rejected'],
  change: ['placed', 'changed'],
  slow: ['placed', 'acknowledged', 'accepted'],
  duplicate: ['placed', 'accepted'],
  silent: ['placed'],
};
const EFFECTS = new Set(Object.values(EXPECTED).flat());

/**
 * @typedef {{ step: string, messageId: string, topic: string | null, partition: number | null, offset: string | null }} Step
 * @typedef {{ kind: string, order?: string | null, id?: string | null, partition?: number, offset?: string, behaviour?: string, requestId?: string }} Line
 * @typedef {{ lost: string[], repeated: string[], outOfOrder: string[], redelivered: number, answeredAgain: number, complete: number }} Verdict
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
 * Holds what was accepted against what the partner saw and what came of it.
 *
 * lost: accepted, and the partner never saw it or its answer had no effect.
 * repeated: an effect that happened twice: the partner was asked under two message ids, an order went through a step
 * twice or through one that nobody asked for, or the partner was asked for an order that was never accepted.
 * outOfOrder: an order's steps, or the places of its messages in their topic, run backwards.
 * redelivered is no fault: the same message id at another offset, as at-least-once promises; whoever gets it drops it.
 *
 * @param {Iterable<string>} accepted order numbers
 * @param {readonly Line[]} journal
 * @param {ReadonlyMap<string, { steps: readonly Step[] }>} timelines
 * @returns {Verdict}
 */
export function compare(accepted, journal, timelines) {
  const seen = Map.groupBy(
    journal.filter((line) => line.kind === 'seen'),
    (line) => line.order,
  );
  const orders = new Set(accepted);
  const lost = [];
  const repeated = [...seen.keys()].filter((order) => !orders.has(order)).map((order) => `${order}: never accepted`);
  const outOfOrder = [];
  for (const order of orders) {
    const requests = seen.get(order) ?? [];
    if (requests.length === 0) {
      lost.push(`${order}: the partner never saw it`);
      continue;
    }
    if (new Set(requests.map((line) => line.id)).size > 1) repeated.push(`${order}: asked for under two message ids`);
    const effects = (timelines.get(order)?.steps ?? []).filter(({ step }) => EFFECTS.has(step));
    const expected = EXPECTED[requests[0].behaviour] ?? [];
    const names = effects.map(({ step }) => step);
    if (expected.some((step) => !names.includes(step)))
      lost.push(`${order}: ${names.join(', ') || 'nothing'} happened`);
    if (names.length > new Set(names).size || names.some((step) => !expected.includes(step))) {
      repeated.push(`${order}: ${names.join(', ')}`);
    }
    if (runsBackwards(names, expected, effects)) outOfOrder.push(`${order}: ${names.join(', ')}`);
  }
  return { lost, repeated, outOfOrder, complete: orders.size - lost.length, ...repeats(journal) };
}

function runsBackwards(names, expected, effects) {
  const places = effects.filter((step) => step.offset !== null);
  return (
    names.some((name, index) => index > 0 && expected.indexOf(name) < expected.indexOf(names[index - 1])) ||
    places.some(
      (step, index) =>
        index > 0 &&
        step.partition === places[index - 1].partition &&
        BigInt(step.offset) < BigInt(places[index - 1].offset),
    )
  );
}

/** Messages that came again under their id. A record that the partner itself read twice has one place, and counts once. */
function repeats(journal) {
  const again = (keys) => keys.length - new Set(keys.map(([id]) => id)).size;
  const places = new Map();
  for (const { kind, id, partition, offset } of journal) {
    if (kind === 'seen') places.set(`${id}/${partition}/${offset}`, [id]);
  }
  const answers = journal.filter((line) => line.kind === 'answered' && line.id);
  return { redelivered: again([...places.values()]), answeredAgain: again(answers.map((line) => [line.id])) };
}
