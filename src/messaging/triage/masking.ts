import { type AnyContract, ENVELOPE_HEADERS, holdsPersonalData, mask, maskAt } from '../../contracts';
import { pointerOf, tokensOf, valueAt } from '../../platform/json';
import type { ReadDocument } from './document-reader';
import type { LetterEdit } from './edits';
import type { RecordContent, ShownBytes } from './record-content';

// What people see of a message that failed, unless they say why they have to see more.

/** Headers that speak of the message, not of anybody. What others hold is unknown. */
const SHOWN_HEADERS = new Set([...ENVELOPE_HEADERS, 'tracestate', 'kafka_correlationId', '__value_schema_id']);

/**
 * May the bytes be shown? They hold personal data where the contract names some, and anything where they cannot be read, hold members that
 * the contract doesn't know, or may hold what our reader stepped over.
 */
export function showsBytes({ contract, document, isWhole }: ReadDocument): boolean {
  if (!contract || document === undefined || !isWhole || holdsPersonalData(contract)) return false;
  return mask(contract, document).hidden.length === 0;
}

/** @param pointer to what is wrong in the document */
export function maskContent(content: RecordContent, read: ReadDocument, pointer: string | null): RecordContent {
  const { contract, document } = read;
  const shown = contract && document !== undefined ? mask(contract, document) : { document: null, hidden: [] };
  const bytes = showsBytes(read) || content.raw === null;
  const headers = content.headers.map((header) => (SHOWN_HEADERS.has(header.name) ? header : blank(header)));
  const blanked = headers.flatMap(({ name, base64 }) => (base64 === null ? [`header ${name}`] : []));
  return {
    ...content,
    document: shown.document,
    // Where it is too long to be shown it stays so.
    value: pointer === null || content.value === null ? null : valueAt(shown.document, pointer),
    raw: content.raw && !bytes ? blank(content.raw) : content.raw,
    headers,
    hidden: [...shown.hidden.map(pointerOf), ...(bytes ? [] : ['raw']), ...new Set(blanked)],
  };
}

export function maskEdit(contract: AnyContract | undefined, edit: LetterEdit): LetterEdit {
  // Only documents of ours are edited; whose contract is gone can't be told what is personal.
  if (!contract) return { ...edit, document: null, diff: [] };
  return {
    ...edit,
    document: mask(contract, edit.document).document,
    diff: edit.diff.map((change) =>
      change.op === 'remove' ? change : { ...change, value: maskAt(contract, tokensOf(change.path), change.value) },
    ),
  };
}

const blank = <B extends Pick<ShownBytes, 'text' | 'base64'>>(bytes: B): B => ({ ...bytes, text: null, base64: null });
