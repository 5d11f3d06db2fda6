import { query, type Tx } from '../../platform/database';
import type { Channel } from '../domain/notification';
import type { ReceiverDraft } from '../domain/receiver';

// Marks of addresses that a provider refused for good: nothing more is sent there. They are addresses, so personal data.

/** Staff say that this address is to be tried (again). False: it bore no mark. */
export async function clearMark(tx: Tx, channel: Channel, address: string): Promise<boolean> {
  const cleared = await query(
    tx,
    'WITH cleared AS (DELETE FROM notification_bad_address WHERE channel = :channel AND address = :address RETURNING 1) SELECT 1 FROM cleared',
    { channel, address },
  );
  return cleared.length > 0;
}

/** Of a receiver that was just removed; what another receiver has, too, stays marked. */
export async function forgetMarks(
  tx: Tx,
  { email, phone, webhookUrl }: Pick<ReceiverDraft, 'email' | 'phone' | 'webhookUrl'>,
): Promise<void> {
  await query(
    tx,
    `DELETE FROM notification_bad_address b
     WHERE (b.channel, b.address) IN (('email', :email::text), ('sms', :phone::text), ('webhook', :webhookUrl::text)) AND NOT EXISTS (
       SELECT FROM notification_receiver r
       WHERE b.address = CASE b.channel WHEN 'email' THEN r.email WHEN 'sms' THEN r.phone ELSE r.webhook_url END)`,
    { email, phone, webhookUrl },
  );
}
