import { lockState } from '../../messaging/channels';
import { liftFullPauses } from '../../messaging/consumer';
import type { Clock } from '../../platform/clock';
import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { versionStale } from '../../platform/http';
import { audit, type Caller, mayPartner } from '../../staff';
import type { Partner } from '../partner.entity';
import { COLUMNS } from '../partners';
import { stateAfter, type StateVerb } from './state-change';

export interface StateRequest {
  partner: string;
  verb: StateVerb;
  reason: string | null;
  /** The version that the caller has seen; undefined: whatever it is, since the states themselves say what is possible. */
  seen: number | undefined;
  by: Caller;
}

/** Pauses, suspends and resumes partners, for everybody at once. */
export class PartnerStates {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * When it resolves, every batch that was being applied has ended, and none that comes is applied against the new state. The relay, which looks each second, stops and
   * goes on a little later. Throws `partner-not-found`, `version-stale`, `partner-state`.
   */
  change({ partner: id, verb, reason, seen, by }: StateRequest): Promise<Partner> {
    const unknown = new NonRetriableError('partner-not-found', `There is no partner ${id}.`);
    if (!mayPartner(by, id)) return Promise.reject(unknown);
    return this.database.transaction(async (tx) => {
      await lockState(tx, id);
      const [partner] = await query<Partner>(tx, `SELECT ${COLUMNS} FROM partner WHERE id = :id FOR NO KEY UPDATE`, {
        id,
      });
      if (!partner) throw unknown;
      if (seen !== undefined && seen !== partner.version) throw versionStale();
      const state = stateAfter(partner, verb);
      const now = this.clock.now();
      const changed = await write(tx, { ...partner, state, stateSince: now, stateReason: reason, stateBy: by.id });
      if (state === 'active') await resumed(tx, id, now);
      else if (partner.state === 'active') await stopped(tx, id, now);
      const detail = { from: partner.state, to: state };
      await audit(
        tx,
        { by, action: `partner.${verb}`, object: `partner/${id}`, partner: id, reason: reason ?? undefined, detail },
        now,
      );
      return changed;
    });
  }
}

async function write(tx: Tx, { id, state, stateSince, stateReason, stateBy }: Partner): Promise<Partner> {
  const [changed] = await query<Partner>(
    tx,
    `UPDATE partner SET state = :state, state_since = :stateSince, state_reason = :stateReason, state_by = :stateBy, version = version + 1
     WHERE id = :id RETURNING ${COLUMNS}`,
    { id, state, stateSince, stateReason, stateBy },
  );
  return changed as Partner;
}

async function stopped(tx: Tx, partner: string, now: Date): Promise<void> {
  await query(tx, 'INSERT INTO partner_stop (partner, stopped_at) VALUES (:partner, :now)', { partner, now });
}

/** What was kept needs nothing: the drain no longer passes over it. */
async function resumed(tx: Tx, partner: string, now: Date): Promise<void> {
  await query(
    tx,
    'UPDATE partner_stop SET resumed_at = greatest(:now, stopped_at) WHERE partner = :partner AND resumed_at IS NULL',
    { partner, now },
  );
  await liftFullPauses(tx, partner);
}
