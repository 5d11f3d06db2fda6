import { query, type Tx } from '../../platform/database';

/** `paused`: nothing is sent to it. `suspended`: that, and what it sends is kept, but not applied. */
export type PartnerState = 'active' | 'paused' | 'suspended';

/** First key of the lock that `partner_state` shares; the second is made from the partner's id. */
const STATE_LOCK = 7275393;

/**
 * The partner's state, which stays so until the transaction ends: whoever changes it waits for that, and who asks meanwhile waits for the change. The first lock of
 * a transaction: who asked while holding another could wait for a change that waits for who wants that one.
 */
export async function stateOf(tx: Tx, partner: string): Promise<PartnerState> {
  const [row] = await query<{ state: PartnerState | null }>(tx, 'SELECT partner_state(:partner) AS state', { partner });
  return row?.state ?? 'active';
}

/** Waits for every transaction that relies on {@link stateOf} and keeps the next ones waiting, until this one ends. */
export async function lockState(tx: Tx, partner: string): Promise<void> {
  await query(tx, `SELECT pg_advisory_xact_lock(${STATE_LOCK}, hashtext(:partner))`, { partner });
}
