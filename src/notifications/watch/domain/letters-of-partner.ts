import type { OpenDeadLetters } from '../../../messaging/triage';

/** Dead letters of a partner that wait for somebody. */
export interface LettersOfPartner extends Pick<OpenDeadLetters, 'partner' | 'count' | 'oldest' | 'newest'> {
  causes: Cause[];
}

interface Cause {
  code: string;
  count: number;
}

const MOST_CAUSES = 3;
const MOST_PARTNERS = 10;

export function byPartner(letters: readonly OpenDeadLetters[]): LettersOfPartner[] {
  return [...Map.groupBy(letters, ({ partner }) => partner)].map(([partner, causes]) => ({
    partner,
    count: sum(causes),
    oldest: new Date(Math.min(...causes.map(({ oldest }) => oldest.getTime()))),
    newest: new Date(Math.max(...causes.map(({ newest }) => newest.getTime()))),
    causes: causes.map(({ code, count }) => ({ code, count })),
  }));
}

/** What a notification says of these letters, of one partner or of several. @param nameOf a partner's */
export function saidOf(letters: readonly LettersOfPartner[], nameOf: (partner: string) => string, now: Date) {
  const partners = letters
    .toSorted((a, b) => b.count - a.count || (a.partner < b.partner ? -1 : 1))
    .map(({ partner: id, count }) => ({ id, name: nameOf(id), count }));
  const [one] = partners;
  return {
    ...(one && partners.length === 1 && { partner: { id: one.id, name: one.name } }),
    at: now.toISOString(),
    count: sum(letters),
    since: new Date(Math.min(...letters.map(({ oldest }) => oldest.getTime()))).toISOString(),
    causes: causesOf(letters),
    partnerCount: partners.length,
    partners: partners.slice(0, MOST_PARTNERS),
  };
}

/** What most of them died of, most frequent first. */
function causesOf(letters: readonly LettersOfPartner[]): Cause[] {
  const byCode = Map.groupBy(
    letters.flatMap(({ causes }) => causes),
    ({ code }) => code,
  );
  return [...byCode]
    .map(([code, causes]) => ({ code, count: sum(causes) }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
    .slice(0, MOST_CAUSES);
}

const sum = (counted: readonly { count: number }[]): number => counted.reduce((total, { count }) => total + count, 0);
