import type { OpenDeadLetters } from '../../../messaging/triage';

/** Dead letters of a partner, as people are told of them. */
export interface LettersOfPartner extends Pick<OpenDeadLetters, 'partner' | 'count' | 'oldest' | 'newest'> {
  /** What most of them died of, most frequent first. */
  causes: { code: string; count: number }[];
}

const MOST_CAUSES = 3;

export function byPartner(letters: readonly OpenDeadLetters[]): LettersOfPartner[] {
  return [...Map.groupBy(letters, ({ partner }) => partner)].map(([partner, causes]) => ({
    partner,
    count: causes.reduce((sum, { count }) => sum + count, 0),
    oldest: new Date(Math.min(...causes.map(({ oldest }) => oldest.getTime()))),
    newest: new Date(Math.max(...causes.map(({ newest }) => newest.getTime()))),
    causes: causes
      .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
      .slice(0, MOST_CAUSES)
      .map(({ code, count }) => ({ code, count })),
  }));
}
