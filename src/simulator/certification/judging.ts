import type { ResponseCode } from '../../contracts';
import { TEST_ARTICLES } from '../articles';
import { FAULTS } from '../company/faults';
import type { Exchange, OrderFile } from '../company/ledger';
import { failed, type Outcome, passed } from './suite';

// What the company saw, judged. Without clock and network.

type FinalCode = Exclude<ResponseCode, 'AB'>;

/** `AB after 12 ms, AP after 130 ms, AP again`. */
export function answersOf({ writtenAt, answers }: Exchange): string {
  const words = answers.map(({ code, at, isRepeat }) =>
    isRepeat ? `${code} again` : `${code} after ${at - (writtenAt ?? at)} ms`,
  );
  return words.length === 0 ? 'no answer' : words.join(', ');
}

/** The final answer to an order, or the only one to a cancellation. */
export const finalOf = ({ answers }: Exchange): Exchange['answers'][number] | undefined =>
  answers.find(({ code }) => code !== 'AB');

/** What to do about a despatch of which nothing was recorded. */
export const KEEP_TO_THE_ORDER =
  'Despatch no more than was ordered, and nothing of an order that was rejected or whose cancellation was agreed to.';

/** What could not be read or accepted of what was said and despatched; undefined: nothing. */
function faultOutcome(file: OrderFile | undefined, seen: readonly string[]): Outcome | undefined {
  const [first] = file?.faults ?? [];
  const refusals = file?.refusals ?? [];
  if (!first) return refusals.length > 0 ? failed([...seen, ...refusals], KEEP_TO_THE_ORDER) : undefined;
  const words = (file?.faults ?? []).map(({ fault: { code, detail, pointer }, heard }) => {
    const place = `${heard.topic}/${heard.partition} offset ${heard.offset}`;
    return `${code}: ${detail}${pointer === undefined ? '' : ` (${pointer})`}, at ${place}`;
  });
  return failed([...seen, ...words, ...refusals], FAULTS[first.fault.code].next);
}

/** An order of a test article: one final answer, the one that it asks for, in time. */
export function judgeAnswer(
  exchange: Exchange,
  file: OrderFile | undefined,
  expected: FinalCode,
  withinMs: number,
): Outcome {
  const seen = [`${exchange.order}: ${answersOf(exchange)}`];
  const fault = faultOutcome(file, seen);
  if (fault) return fault;
  const final = finalOf(exchange);
  if (!final) {
    const inTime = withinMs === Infinity ? '' : ` within ${withinMs} ms`;
    return failed(seen, `Answer every order${inTime} with AP, RE or CA; AB alone is no final answer.`);
  }
  if (final.code !== expected) {
    return failed(seen, `Answer an order of the test article ${TEST_ARTICLES[expected]} with ${expected}.`);
  }
  const took = final.at - (exchange.writtenAt ?? final.at);
  return took <= withinMs ? passed(...seen) : failed(seen, `Answer within ${withinMs} ms.`);
}

/** The same request, written twice: one effect. */
export function judgeRepeated(exchange: Exchange, file: OrderFile, fence: Exchange): Outcome {
  const seen = [`${exchange.order}, written twice: ${answersOf(exchange)}`, `then ${fence.order}: ${answersOf(fence)}`];
  const next =
    'Remember the ce_id of every request in the transaction of its effect; answer a repeat with the same answer under the same ce_id, or not at all.';
  const fault = faultOutcome(file, seen);
  if (fault) return { ...fault, next };
  if (!finalOf(exchange)) return failed(seen, 'Answer the request once, also when it comes twice.');
  if (!finalOf(fence)) return failed(seen, 'Go on with the next order after a request that came twice.');
  return passed(...seen);
}

/** Orders that no system may accept, and a good one behind each. */
export function judgeMalformed(tried: readonly { what: string; bad: Exchange; fence: Exchange }[]): Outcome {
  const seen = tried.map(
    ({ what, bad, fence }) => `${what}: ${answersOf(bad)}; the order behind it: ${answersOf(fence)}`,
  );
  const accepted = tried.find(({ bad }) => bad.answers.some(({ code }) => code === 'AP' || code === 'CA'));
  if (accepted)
    return failed(
      seen,
      `Never accept what breaks its contract (${accepted.what}): set it aside for people, or reject it.`,
    );
  const stuck = tried.find(({ fence }) => finalOf(fence)?.code !== 'AP');
  if (stuck) {
    return failed(
      seen,
      `Set aside what can't be read (${stuck.what}) and go on: one bad record must not stop the topic.`,
    );
  }
  return passed(...seen);
}

/** An order whose cancellation came right behind it. */
export interface Crossed {
  order: Exchange;
  cancellation: Exchange;
  file: OrderFile;
}

/** In the order in which they were asked: the answer to the order, then the one to its cancellation, which may stand for both. */
export function judgeSequence(crossed: readonly Crossed[]): Outcome {
  const done = crossed.filter((one) => isSettled(one));
  const seen = [`${crossed.length} orders, each with its cancellation behind it: ${done.length} settled`];
  const next =
    'Handle the messages of one key one after the other, in the order of their offsets, and answer in that order.';
  for (const { file } of crossed) {
    const fault = faultOutcome(file, seen);
    if (fault) return { ...fault, next: `${next} ${fault.next}` };
  }
  const inverted = crossed.find(({ file: { words } }) => {
    const refusedAt = words.indexOf('cancellation-RE');
    return refusedAt >= 0 && refusedAt < words.findIndex(isFinal);
  });
  if (inverted) return failed([...seen, `${inverted.order.order}: ${inverted.file.words.join(', then ')}`], next);
  return unsettled(crossed, seen) ?? passed(...seen);
}

/** Each cancellation has one answer, and what was agreed holds. */
export function judgeCancellations(crossed: readonly (Crossed & { what: string })[]): Outcome {
  const seen = crossed.map(({ what, file }) => `${what}: ${file.words.join(', then ') || 'no answer'}`);
  for (const { file } of crossed) {
    const fault = faultOutcome(file, seen);
    if (fault) return fault;
  }
  return unsettled(crossed, seen) ?? passed(...seen);
}

/** The order's own answer, or the agreement to its cancellation, and an answer to the cancellation. */
export const isSettled = ({ cancellation, file: { words } }: Crossed): boolean =>
  cancellation.answers.length > 0 && (words.some(isFinal) || words.includes('cancellation-AP'));

function unsettled(crossed: readonly Crossed[], seen: readonly string[]): Outcome | undefined {
  const open = crossed.find((one) => !isSettled(one));
  if (!open) return undefined;
  const { order, cancellation } = open;
  const words = `${order.order}: to the order ${answersOf(order)}, to its cancellation ${answersOf(cancellation)}`;
  return failed(
    [...seen, words],
    'Answer every cancellation with AP or RE, and every order that is not cancelled with AP, RE or CA.',
  );
}

const isFinal = (word: string): boolean => word === 'AP' || word === 'RE' || word === 'CA';
