import { CANCELLATION_CODES, type OrderRequest, RESPONSE_CODES } from '../../contracts';
import type { Fault } from './faults';
import type { Said } from './heard';

type Answering = Exclude<Said, { kind: 'despatch-advice' }>;

const FINAL = ['AP', 'RE', 'CA'];

/** What an answer that is new contradicts of what the partner has said about the order before. */
export function contradiction(
  { words, despatches }: { words: readonly string[]; despatches: readonly unknown[] },
  { kind, document: { responseCode } }: Answering,
): Fault | undefined {
  const known: readonly string[] = kind === 'order-response' ? RESPONSE_CODES : CANCELLATION_CODES;
  if (!known.includes(responseCode)) {
    return { code: 'response-code-unknown', detail: `responseCode is ${responseCode}`, pointer: '/responseCode' };
  }
  const illegal = (why: string): Fault => ({ code: 'illegal-transition', detail: `${responseCode} ${why}` });
  const isCancelled = words.includes('cancellation-AP');
  if (kind === 'order-response') {
    const final = words.find((word) => FINAL.includes(word));
    if (final !== undefined) return illegal(`after ${final}, under another ce_id`);
    // Refused and cancelled end the same; a promise to deliver does not.
    return isCancelled && (responseCode === 'AP' || responseCode === 'CA')
      ? illegal('after the cancellation was agreed')
      : undefined;
  }
  if (isCancelled || words.includes('cancellation-RE'))
    return illegal('to the cancellation was said before, under another ce_id');
  return responseCode === 'AP' && despatches.length > 0
    ? illegal('to the cancellation, after goods were despatched')
    : undefined;
}

/** What is wrong with the lines that the partner changes. */
export function lineFault({ lines }: OrderRequest, { kind, document }: Answering): Fault | undefined {
  if (kind !== 'order-response') return undefined;
  const seen = new Set<number>();
  for (const [index, { lineNumber }] of (document.lines ?? []).entries()) {
    const pointer = `/lines/${index}/lineNumber`;
    if (seen.has(lineNumber)) return { code: 'line-repeated', detail: `line ${lineNumber} is named twice`, pointer };
    if (!lines.some((line) => line.lineNumber === lineNumber)) {
      return { code: 'line-unknown', detail: `the order has no line ${lineNumber}`, pointer };
    }
    seen.add(lineNumber);
  }
  return undefined;
}
