import type { CrashPolicy } from '../../../src/notifications/domain/kind';
import { policyOf, type Told } from './world';

/** A notification beside what its provider counted. */
export interface Entry extends Told {
  policy: CrashPolicy;
  effects: number;
  /** The row of the table that it is counted in. */
  case: string;
}

export function ledgerOf(told: readonly Told[], effects: Map<string, number>, caseOf: (one: Told) => string): Entry[] {
  return told.map((one) => ({
    ...one,
    policy: policyOf(one),
    effects: effects.get(one.id) ?? 0,
    case: caseOf(one),
  }));
}

/** `repeat` never 0, `skip` never 2, `look-up` exactly 1 where the provider can say, otherwise 1 at most and a person decides. */
export function brokenPromises(entries: readonly Entry[], canSay: (entry: Entry) => boolean): Entry[] {
  return entries.filter((entry) => {
    const { policy, state, effects } = entry;
    if (state === 'sent' && effects === 0) return true;
    if (policy === 'repeat') return state !== 'sent' || effects === 0;
    if (effects > 1) return true;
    if (policy === 'skip') return state !== 'sent' && state !== 'failed';
    return canSay(entry) ? state !== 'sent' : state !== 'sent' && state !== 'unknown';
  });
}

/** How often providers had what, as a table for people. */
export function tableOf(title: string, entries: readonly Entry[]): string {
  const groups = Map.groupBy(entries, (entry) => `${entry.case}\t${entry.policy}`);
  const lines = [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, group]) => {
      const times = (n: number) => group.filter(({ effects }) => (n > 2 ? effects > 2 : effects === n)).length;
      const states = Map.groupBy(group, ({ state }) => state);
      const ends = [...states].map(([state, members]) => `${state} ${members.length}`).join(', ');
      return [...key.split('\t'), group.length, times(0), times(1), times(2), times(3), ends].map(String);
    });
  const all = [['case', 'policy', 'all', '0×', '1×', '2×', 'more', 'ends'], ...lines];
  const widths = all[0]?.map((_, n) => Math.max(...all.map((line) => line[n]?.length ?? 0))) ?? [];
  return [
    title,
    ...all.map((line) =>
      line
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
  ].join('\n');
}
