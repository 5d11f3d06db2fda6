import type { ReplayDto } from '../../messaging/triage';
import { counted, length, localTime } from '../terminal/words';

/** What a plan would do, a line each. */
export function planLines({ plan, pacePerSecond }: ReplayDto): string[] {
  if (plan === null) return ['It is not planned yet.'];
  const { count, byPartner, oldest, durationSeconds, skipped, heldBehind, unknownIds, truncated } = plan;
  const partners = byPartner.map(({ partner, count: own }) => `${partner} ${own}`).join(', ');
  const pace = pacePerSecond === null ? 'as fast as it goes' : `at ${pacePerSecond} a second`;
  const keys = heldBehind.samples.map(({ partner, key, messages }) => `${partner}/${key} ${messages}`).join(', ');
  return [
    `${counted(count, 'message')} would be sent again${partners && `: ${partners}`}`,
    ...(oldest === null ? [] : [`  oldest: failed first ${localTime(oldest)}`]),
    ...(count === 0
      ? []
      : [`  pace: ${pace}${durationSeconds === null ? '' : `, takes about ${length(durationSeconds)}`}`]),
    ...skipped.map(({ code, detail, count: own, samples }) => {
      const ids = samples.length < own ? `${samples.join(', ')}, …` : samples.join(', ');
      return `  ${own} skipped (${code}): ${detail} ${ids}`;
    }),
    ...(heldBehind.keys === 0
      ? []
      : [
          `  ${counted(heldBehind.messages, 'later message')} of ${counted(heldBehind.keys, 'key')} would follow: ${keys}`,
        ]),
    ...(unknownIds === 0 ? [] : [`  ${counted(unknownIds, 'id')} of no message that this key may see`]),
    ...(truncated ? ['  There are more than one replay holds: these are the oldest. Run it again for the rest.'] : []),
  ];
}
