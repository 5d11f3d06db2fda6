import { holdsPersonalData, withoutPersonalData } from '../../contracts';
import { messageOf } from '../../platform/errors';
import { type Thrown, thrownOf } from './failure';
import type { InspectedRecord, Refusal } from './inspect';

type Said = Pick<InspectedRecord, 'contract' | 'content'>;

const documentOf = ({ content }: Said): unknown => ('value' in content ? content.value : content.broken);

/** A text about a record without what it quotes of its personal data: it is stored, logged, told, and shown to people who see masks. */
function discreetText(text: string, record: Said): string {
  return record.contract ? withoutPersonalData(record.contract, documentOf(record), text) : text;
}

/** The same of all words of an outcome. */
export function discreet(outcome: Refusal, record: Said): Refusal {
  const thrown = thrownOf(outcome);
  if (!thrown) return { ...outcome, detail: discreetText(outcome.detail, record) };
  // An exception may quote what nobody could decode: then its classes have to do.
  const isBlind = documentOf(record) === undefined && record.contract && holdsPersonalData(record.contract);
  const rootCause = isBlind ? thrown.classes.join(' caused by ') : discreetText(thrown.rootCause, record);
  const detail = isBlind ? rootCause : discreetText(thrown.detail, record);
  return { ...thrown, detail, rootCause } as Thrown;
}

/** A stack begins with the error's words, and those may quote a whole document. */
const LONGEST_STACK = 8000;

/** An error's stack as a log may have it. Not the error itself: a database error carries the statement's parameters, which are the document. */
export function discreetStack(error: unknown, record: Said | undefined): string | undefined {
  const stack = error instanceof Error && error.stack ? messageOf(error.stack, LONGEST_STACK) : undefined;
  return stack && record ? discreetText(stack, record) : stack;
}
