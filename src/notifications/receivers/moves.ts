import { query, type Tx } from '../../platform/database';
import { type Channel, CHANNELS } from '../domain/notification';
import { type QuietHours, quietUntil } from '../domain/quiet-hours';
import { ADDRESSES, type ReceiverDraft } from '../domain/receiver';
import { providerOf } from '../domain/provider-name';
import { KINDS } from '../kinds';
import { clearMark } from './marks';

const QUIET_KINDS = KINDS.flatMap(({ name, quietHours }) => (quietHours === 'respect' ? [name] : []));

/** Why notifications end that nobody will send. */
export type Forsaken = 'receiver-removed' | 'address-removed';

export const WHY_FORSAKEN: Readonly<Record<Forsaken, string>> = {
  'receiver-removed': 'Its receiver was removed.',
  'address-removed': 'Its receiver is no longer reached that way.',
};

/**
 * Has what waits follow a receiver's addresses. A new one begins without a mark and with its breaker closed: what the old one answered is
 * none of its doing.
 */
export async function followAddresses(
  tx: Tx,
  before: ReceiverDraft | null,
  draft: ReceiverDraft,
  now: Date,
): Promise<{ moved: number; cancelled: number }> {
  const done = { moved: 0, cancelled: 0 };
  for (const channel of CHANNELS) {
    const [old, address] = [before?.[ADDRESSES[channel]] ?? null, draft[ADDRESSES[channel]]];
    if (old === address) continue;
    if (channel === 'webhook') await renewProvider(tx, draft.id, address !== null);
    if (address === null) {
      done.cancelled += await cancelWaiting(tx, { receiver: draft.id, channel, code: 'address-removed' }, now);
    } else {
      await clearMark(tx, channel, address);
      done.moved += await move(tx, draft.id, channel, address);
    }
  }
  return done;
}

/**
 * What waits for a receiver's quiet hours alone waits for these from now on. What is in doubt or backs off keeps its time: that is not the
 * receiver's. Kinds that ignore quiet hours are left alone, also where another clock than ours says when they are due.
 */
export async function followQuietHours(tx: Tx, receiver: string, quiet: QuietHours | null, now: Date): Promise<void> {
  await query(
    tx,
    `UPDATE notification SET next_attempt_at = least(:due::timestamptz, expires_at), version = version + 1
     WHERE receiver = :receiver AND state = 'pending' AND NOT doubtful AND next_attempt_at > :now AND (attempts = 0 OR code = 'quiet-hours')
       AND kind = ANY(:kinds::text[])`,
    { receiver, now, kinds: QUIET_KINDS, due: (quiet && quietUntil(quiet, now)) ?? now },
  );
}

/** Ends what is pending for a receiver; null: on every channel. One that is in doubt keeps saying so. */
export async function cancelWaiting(
  tx: Tx,
  { receiver, channel, code }: { receiver: string; channel: Channel | null; code: Forsaken },
  now: Date,
): Promise<number> {
  const cancelled = await query(
    tx,
    `UPDATE notification SET state = 'cancelled', settled_at = :now, code = :code, version = version + 1,
       detail = :detail || CASE WHEN doubtful THEN ' Its last attempt may have gone out.' ELSE '' END
     WHERE receiver = :receiver AND state = 'pending' AND (:channel::text IS NULL OR channel = :channel) RETURNING id`,
    { receiver, channel, code, detail: WHY_FORSAKEN[code], now },
  );
  return cancelled.length;
}

async function move(tx: Tx, receiver: string, channel: Channel, address: string): Promise<number> {
  const moved = await query(
    tx,
    `UPDATE notification SET address = :address, version = version + 1
     WHERE receiver = :receiver AND channel = :channel AND state = 'pending' AND attempts = 0 AND address <> :address RETURNING id`,
    { receiver, channel, address },
  );
  return moved.length;
}

/** The row that has an endpoint's breaker, made anew. */
async function renewProvider(tx: Tx, receiver: string, there: boolean): Promise<void> {
  const name = providerOf('webhook', receiver);
  await query(tx, 'DELETE FROM notification_provider WHERE name = :name', { name });
  if (there)
    await query(
      tx,
      `INSERT INTO notification_provider (name, channel) VALUES (:name, 'webhook') ON CONFLICT DO NOTHING`,
      {
        name,
      },
    );
}
