import { type Database, query, type Tx } from '../../platform/database';

/** `paused`: nothing is sent to it. `suspended`: that, and what it sends is kept, but not applied. */
export type PartnerState = 'active' | 'paused' | 'suspended';

/** How a partner stands, since when and why; null: since it was added, for no stated reason. */
export interface PartnerStanding {
  state: PartnerState;
  stateSince: Date | null;
  stateReason: string | null;
}

/** For people; a sentence. */
export function standingInWords(partner: string, { state, stateSince, stateReason }: PartnerStanding): string {
  if (state === 'active') return `${partner} is active.`;
  const since = stateSince ? ` since ${stateSince.toISOString()}` : '';
  return `${partner} is ${state}${since}: ${stateReason?.replace(/[.\s]+$/, '') ?? 'no reason recorded'}.`;
}

/** For people: nothing keeps it from changing meanwhile. */
export async function standingOf(database: Database, partner: string): Promise<PartnerStanding> {
  const [standing] = await database.query<PartnerStanding>(
    'SELECT state, state_since AS "stateSince", state_reason AS "stateReason" FROM partner WHERE id = :partner',
    { partner },
  );
  return standing ?? { state: 'active', stateSince: null, stateReason: null };
}

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
