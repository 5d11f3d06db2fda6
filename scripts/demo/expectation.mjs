/** What the partner answers to an order when it behaves so, as steps of the order. */
const ANSWERS = {
  accept: ['accepted'],
  reject: ['rejected'],
  change: ['changed'],
  slow: ['acknowledged', 'accepted'],
  silent: [],
  duplicate: ['accepted'],
  garbage: ['accepted'],
  ship: ['accepted'],
  'over-ship': ['accepted'],
  'ship-early': ['accepted'],
  misprint: ['accepted'],
};
const STEP_OF = { AB: 'acknowledged', AP: 'accepted', RE: 'rejected', CA: 'changed' };

/**
 * @typedef {{ kind: string, order?: string, id?: string, partner?: string, topic?: string, partition?: number, offset?: string, behaviour?: string,
 *   despatches?: number, requestId?: string, code?: string, decision?: string, despatchNumber?: string, reasonCode?: string, detail?: string }} Line
 * @typedef {{ order: string[], cancellation: string[], state: string, despatches: number }} Expectation
 */

/**
 * What must have become of an order by what its partner wrote into its journal: the steps of the order itself and those of
 * its cancellation, each in this order, and its last state. Undefined while the partner has not seen the order.
 *
 * @param {readonly Line[]} lines of this order
 * @param {boolean} asked we asked the partner to cancel it
 * @returns {Expectation | undefined}
 */
export function expectationOf(lines, asked) {
  const seen = lines.find(({ kind }) => kind === 'seen');
  if (!seen?.behaviour) return undefined;
  const written = new Set(lines.filter(({ kind }) => kind === 'answered').map(({ id }) => id));
  const unsaid = new Set(
    lines.filter(({ kind, id }) => kind === 'withdrawn' && !written.has(id)).map(({ code = '' }) => STEP_OF[code]),
  );
  const answers = (ANSWERS[seen.behaviour] ?? []).filter((step) => !unsaid.has(step));
  const decision = lines.find(({ kind }) => kind === 'cancelling')?.decision;
  const isCancelled = decision === 'agree';
  // What left for an order that the partner had no request for is told by nothing but its leaving.
  const left = new Set(lines.flatMap(({ kind, despatchNumber }) => (kind === 'despatching' ? despatchNumber : [])));
  const despatches = isCancelled ? [] : despatchSteps(seen.behaviour, Math.max(seen.despatches ?? 0, left.size));
  const order = ['placed', ...answers, ...despatches];
  const isRejected = answers.includes('rejected');
  const outcome = { agree: isRejected ? 'cancellation-agreed' : 'cancelled', refuse: 'cancellation-refused' };
  return {
    order,
    cancellation: asked ? ['cancellation-requested', ...(decision ? [outcome[decision]] : [])] : [],
    state:
      isCancelled && !isRejected ? 'cancelled' : (order.findLast((step) => step !== 'despatch-refused') ?? 'placed'),
    despatches: despatches.length,
  };
}

/** The last despatch fills the order; of several the first is a part of it, or more than was ordered. */
function despatchSteps(behaviour, count) {
  if (count === 0) return [];
  const first = behaviour === 'over-ship' ? 'despatch-refused' : 'partly-shipped';
  return [...Array(count - 1).fill(first), 'shipped'];
}

/**
 * Is all of it there, on both sides?
 *
 * @param {{ state: string, cancellation: { state: string } | null }} order as the API shows it
 * @param {readonly Line[]} lines of this order
 */
export function isSettled(order, lines) {
  const expected = expectationOf(lines, order.cancellation !== null);
  if (!expected || order.state !== expected.state || order.cancellation?.state === 'requested') return false;
  const receipts = new Set(lines.flatMap(({ kind, despatchNumber }) => (kind === 'receipt' ? despatchNumber : [])));
  return receipts.size >= expected.despatches;
}
