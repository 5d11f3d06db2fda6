import type { Channel } from '../domain/notification';
import type { QuietHours } from '../domain/quiet-hours';
import type { Receiver, ReceiverDraft, Subscription } from '../domain/receiver';

/** Quiet hours as a row has them: all three, or none. */
export interface QuietColumns {
  quietFrom: string | null;
  quietTo: string | null;
  timeZone: string | null;
}

export const QUIET_COLUMNS = `r.quiet_from AS "quietFrom", r.quiet_to AS "quietTo", r.time_zone AS "timeZone"`;
export const ADDRESS_COLUMNS = `r.email, r.phone, r.webhook_url AS "webhookUrl"`;

export const quietOf = ({ quietFrom, quietTo, timeZone }: QuietColumns): QuietHours | null =>
  quietFrom === null || quietTo === null || timeZone === null
    ? null
    : { from: quietFrom.slice(0, 5), to: quietTo.slice(0, 5), timeZone };

/** A receiver with one row of `subscribed` for each kind and channel. */
export interface ReceiverRow extends Omit<Receiver, 'quietHours' | 'subscriptions'>, QuietColumns {
  subscribed: { kind: string; channel: Channel; partners: string[] | null }[];
}

export const RECEIVER_COLUMNS = `r.id, r.version, r.name, ${ADDRESS_COLUMNS}, ${QUIET_COLUMNS}, r.created_at AS "createdAt", r.updated_at AS "updatedAt",
  ARRAY(SELECT jsonb_build_object('kind', s.kind, 'channel', s.channel, 'partners', s.partners) FROM notification_subscription s
        WHERE s.receiver = r.id ORDER BY s.kind, s.channel) AS subscribed`;

/** What goes to the same partners over several channels stands in one subscription. */
export function receiverOf({ subscribed, quietFrom, quietTo, timeZone, ...rest }: ReceiverRow): Receiver {
  const grouped = new Map<string, Subscription & { channels: Channel[] }>();
  for (const { kind, channel, partners } of subscribed) {
    const key = JSON.stringify([kind, partners]);
    const known = grouped.get(key);
    if (known) known.channels.push(channel);
    else grouped.set(key, { kind, channels: [channel], partners });
  }
  return { ...rest, quietHours: quietOf({ quietFrom, quietTo, timeZone }), subscriptions: [...grouped.values()] };
}

/** The draft's values for the columns of a row. */
export const valuesOf = ({ id, name, email, phone, webhookUrl, quietHours }: ReceiverDraft) => ({
  id,
  name,
  email,
  phone,
  webhookUrl,
  quietFrom: quietHours?.from ?? null,
  quietTo: quietHours?.to ?? null,
  timeZone: quietHours?.timeZone ?? null,
});

/** JSON text of one row for each kind and channel. */
export const subscribedText = ({ subscriptions }: ReceiverDraft): string =>
  JSON.stringify(
    subscriptions.flatMap(({ kind, channels, partners }) =>
      channels.map((channel) => ({ kind, channel, partners: partners && [...partners].sort() })),
    ),
  );
