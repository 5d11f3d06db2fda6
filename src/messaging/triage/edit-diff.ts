import { type AnyContract, mask } from '../../contracts';
import { diffOf, type PatchOperation, pointerOf, valueAt } from '../../platform/json';
import type { LetterEdit } from './edits';

/**
 * What makes the edited document of the original, without telling who reads it what is hidden: a hidden place is named as a whole, and also when it was
 * given the value that it had. Else a place that is left out would say that a guess was right, and the audit would not hear of that.
 * @param sent the document as the editor sent it, who saw masks of what was `applied`
 * @param document what is meant by it
 * @param current the edit that is applied now: what it named stays named
 */
export function editDiff(
  contract: AnyContract,
  { original, applied }: { original: unknown; applied: unknown },
  sent: unknown,
  document: unknown,
  current?: Pick<LetterEdit, 'document' | 'diff'>,
): PatchOperation[] {
  const hidden = [original, document].map((shown) => mask(contract, shown).hidden.map(pointerOf));
  const places = new Set(hidden.flat());
  const changes = new Map<string, PatchOperation>();
  const given = (path: string) => changes.set(path, { op: 'replace', path, value: valueAt(document, path) });
  for (const change of diffOf(original, document)) {
    const whole = above(change.path).find((path) => places.has(path));
    if (whole === undefined) changes.set(change.path, change);
    else given(whole);
  }
  const named = [...seenChange(contract, applied, sent), ...(current?.diff ?? [])].map(({ path }) => path);
  const touched = new Set(named);
  const towards = new Set(named.flatMap(above));
  for (const place of hidden[1] ?? []) {
    const ways = [place, ...above(place)];
    // What stands in a part that is changed as a whole is told with it.
    if (ways.some((path) => changes.has(path))) continue;
    if (towards.has(place) || ways.some((path) => touched.has(path))) given(place);
  }
  return [...changes.values()];
}

/** What the editor changed of what it saw. */
export const seenChange = (contract: AnyContract, applied: unknown, sent: unknown): PatchOperation[] =>
  diffOf(mask(contract, applied).document ?? null, sent);

/** Pointers to what a place stands in, from the whole document on. */
function above(pointer: string): string[] {
  const ends = [...pointer.matchAll(/\//g)].map(({ index }) => index);
  return ends.map((end) => pointer.slice(0, end));
}
