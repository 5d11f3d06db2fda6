import { isMask } from '../../../contracts';
import type { ReceiverBodyDto, ReceiverDto } from '../../../notifications';

const ADDRESSES = { email: 'e-mail address', phone: 'phone number', webhookUrl: 'webhook URL' } as const;

/**
 * What a file would change of a receiver, a line each; none where it changes nothing. Addresses are personal data: that there is one is said,
 * never which.
 */
export function changesOf(before: ReceiverDto | undefined, wanted: ReceiverBodyDto): string[] {
  const [old, now] = [before ? factsOf(before) : new Map<string, string>(), factsOf(wanted)];
  return [
    ...addressChanges(before, wanted),
    ...[...now].flatMap(([fact, value]) => {
      const was = old.get(fact);
      if (was === undefined) return [`  + ${fact}: ${value}`];
      return was === value ? [] : [`  ~ ${fact}: ${was} → ${value}`];
    }),
    ...[...old].flatMap(([fact, value]) => (now.has(fact) ? [] : [`  - ${fact}: ${value}`])),
  ];
}

function addressChanges(before: ReceiverDto | undefined, wanted: ReceiverBodyDto): string[] {
  return (['email', 'phone', 'webhookUrl'] as const).flatMap((member) => {
    const [stored, given] = [before?.[member] ?? null, wanted[member] ?? null];
    if (given === null) return stored === null ? [] : [`  - ${ADDRESSES[member]}`];
    if (stored === null) return [`  + ${ADDRESSES[member]}: the one in the file`];
    if (isMask(String(given))) return [];
    return [`  ~ ${ADDRESSES[member]}: the one in the file (what is stored is not shown; it may be the same)`];
  });
}

/** What can be said of it, under its name: one for each kind and channel. */
function factsOf({ name, quietHours, subscriptions }: ReceiverBodyDto): Map<string, string> {
  return new Map([
    ['name', name],
    ...(quietHours ? [['quiet hours', quietHoursOf(quietHours)] as const] : []),
    ...subscriptions.flatMap(({ kind, channels, partners }) =>
      channels.map((channel) => [`${kind} over ${channel}`, aboutOf(partners)] as const),
    ),
  ]);
}

export const quietHoursOf = ({ from, to, timeZone }: NonNullable<ReceiverBodyDto['quietHours']>): string =>
  `${from} to ${to}, ${timeZone}`;

export const aboutOf = (partners: readonly string[] | null | undefined): string =>
  partners ? `about ${[...partners].sort().join(', ')}` : 'about all partners';
