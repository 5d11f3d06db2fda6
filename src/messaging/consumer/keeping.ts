import { type FoldResult, type FreshRecord, HELD } from './batch-fold';
import type { Outcome } from './handler';

/**
 * What a suspended partner sends: nothing is judged, whatever it is. The first of a key waits for its turn, due at once, and holds what comes after it; so does each record without a
 * key, for itself. Nothing has to be done about them when the partner is resumed, and so nothing can be forgotten: the drain passes over suspended partners, and that is all
 * that keeps them.
 */
export function keepBatch(records: readonly FreshRecord[], parkedBefore: ReadonlySet<string>): FoldResult {
  const outcomes = new Map<FreshRecord, Outcome>();
  const parkedKeys = new Set<string>();
  const next = new Set<FreshRecord>();
  for (const record of records) {
    const { refusal, inspected } = record;
    const { sequence } = inspected;
    const isFirst = sequence === null || !(parkedBefore.has(sequence) || parkedKeys.has(sequence));
    // Known already, at the price of three processes.
    const isKiller = refusal?.failedIn === 'process';
    outcomes.set(record, isKiller ? refusal : HELD);
    if (isFirst && !isKiller) next.add(record);
    if (isFirst && sequence !== null && (!isKiller || (inspected.contract?.laterMessages ?? 'hold') === 'hold')) {
      parkedKeys.add(sequence);
    }
  }
  return { outcomes, parkedKeys, next };
}
