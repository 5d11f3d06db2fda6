import { query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import type { NotificationKind } from '../domain/kind';
import { quietUntil } from '../domain/quiet-hours';
import { ADDRESSES } from '../domain/receiver';
import { kindOf } from '../kinds/catalogue';
import { insertNotifications } from '../raising/new-notification';
import { resendId } from '../raising/notification-id';
import type { Scope } from '../reading/notification-list';
import type { StoredNotification } from '../reading/stored-notification';
import { clearMark } from '../receivers/marks';
import { ADDRESS_COLUMNS, QUIET_COLUMNS, type QuietColumns, quietOf } from '../receivers/receiver-rows';

type ReachedNow = { email: string | null; phone: string | null; webhookUrl: string | null } & QuietColumns;

/**
 * Writes the notification that takes the place of one whose row is locked; its id.
 * @param scope of who asks: who is confined to some partners hears of no receiver who it is
 */
export async function resend(tx: Tx, old: StoredNotification, scope: Scope, now: Date): Promise<string> {
  const kind = kindOf(old.kind);
  if (!kind)
    throw new NonRetriableError(
      'notification-state',
      `This release knows no notification of kind ${old.kind} any more.`,
    );
  if (old.secret)
    throw new NonRetriableError('notification-secret', 'What it said is deleted, so it cannot be sent again.', {
      hint: 'Have the system that asked for it make a new one. Where its address is marked, unmark it first: "may" says so.',
    });
  const { address, notBefore } = await target(tx, kind, old, scope, now);
  const id = resendId(old.id, old.resends + 1);
  await query(tx, 'UPDATE notification SET resends = resends + 1, version = version + 1 WHERE id = :id', {
    id: old.id,
  });
  await clearMark(tx, old.channel, address);
  const { eventId, channel, provider, receiver, partner, orderNumber, happenedAt } = old;
  const row = {
    ...{ id, eventId, kind: kind.name, channel, provider, receiver, address, partner, orderNumber, happenedAt },
    data: JSON.stringify(old.data),
    requestHash: null,
    secret: false,
    nextAttemptAt: notBefore ?? now,
    // Counted from now: staff want it to be sent, however long ago it happened.
    expiresAt: new Date(now.getTime() + kind.expiresMs),
    resendOf: old.id,
  };
  await insertNotifications(tx, [row], now);
  return id;
}

/** Where it goes now: a receiver may have moved since. */
async function target(
  tx: Tx,
  kind: NotificationKind,
  { receiver, channel, address }: StoredNotification,
  scope: Scope,
  now: Date,
): Promise<{ address: string; notBefore: Date | null }> {
  if (receiver === null) return { address, notBefore: null };
  const [row] = await query<ReachedNow>(
    tx,
    `SELECT ${ADDRESS_COLUMNS}, ${QUIET_COLUMNS} FROM notification_receiver r WHERE r.id = :receiver`,
    { receiver },
  );
  const who = scope === null ? `Its receiver ${receiver}` : 'Its receiver';
  if (!row)
    throw new NonRetriableError('receiver-unknown', `${who} was removed.`, {
      hint: 'It can be sent anew once the receiver is registered again.',
    });
  const reached = row[ADDRESSES[channel]];
  if (reached === null)
    throw new NonRetriableError('receiver-unreachable', `${who} is no longer reached by ${channel}.`, {
      hint: 'It can be sent anew once the receiver has such an address again.',
    });
  const quiet = kind.quietHours === 'respect' ? quietOf(row) : null;
  return { address: reached, notBefore: quiet && quietUntil(quiet, now) };
}
