import { type Database, query, type Tx } from '../../platform/database';
import type { Verdict } from '../domain/crash-policy';
import type { Content } from '../domain/notification';
import type { Claimed } from './claims';
import { report, type Report } from './breaker';

type Ours = Pick<Claimed, 'id' | 'claim'>;

export interface Beginning extends Ours {
  action: 'send' | 'look-up';
  content: Content;
  /** Longest that the provider may take: less than that must not be left of the lease. */
  timeoutMs: number;
  leaseMs: number;
  notifier: string;
}

export interface BegunAttempt {
  number: number;
  content: Content;
  firstBegunAt: Date | null;
  begunAt: Date;
  /** Lease and timeout after the begin. */
  conclusiveAt: Date;
  /** What is left of the lease, ms. */
  leftMs: number;
}

/** Why nothing was begun. `lost`: it is not ours any more, or too little of the lease is left. */
export type NotBegun = 'lost' | 'expired' | 'bad-address';

/** The end of an attempt. */
export interface Ending {
  number: number;
  outcome: string;
  code: string | null;
  detail: string | null;
  reference: string | null;
  /** The provider says that nothing will ever arrive there. */
  badAddress: boolean;
}

/**
 * For a notifier that stands still inside a transaction the database ends it after that, and frees what it holds: a provider's row is what all
 * processes wait for that send through it. In the statements themselves: one of its own would cost a round trip.
 */
const HELD_AT_MOST = `set_config('idle_in_transaction_session_timeout', '5s', true)`;

/**
 * The clock is read behind the row's lock (in `held`): a statement that waited for a lock which only held the row would otherwise go by the
 * time at which it began to wait, and begin an attempt when the lease is over.
 */
export const BEGIN = `
  WITH held AS MATERIALIZED (
    SELECT id, channel, address, expires_at, lease_until FROM notification WHERE id = :id AND claim = :claim AND state = 'sending' FOR UPDATE
  ), timed AS MATERIALIZED (
    SELECT held.*, clock_timestamp() AS at FROM held
  ), begun AS (
    UPDATE notification n SET attempts = n.attempts + 1, doubtful = true, content = coalesce(n.content, :content::jsonb),
      first_begun_at = CASE WHEN :action = 'send' THEN coalesce(n.first_begun_at, timed.at) ELSE n.first_begun_at END,
      next_attempt_at = timed.at + (:leaseMs::int + :timeoutMs::int) * interval '1 millisecond'
    FROM timed WHERE n.id = timed.id AND n.claim = :claim AND timed.lease_until > timed.at + :timeoutMs::int * interval '1 millisecond'
      AND (:action = 'look-up' OR timed.expires_at > timed.at AND NOT EXISTS (
        SELECT FROM notification_bad_address b WHERE b.channel = timed.channel AND b.address = timed.address))
    RETURNING n.id, n.attempts AS number, n.content, n.first_begun_at AS "firstBegunAt", timed.at AS "begunAt",
      n.next_attempt_at AS "conclusiveAt", extract(epoch FROM n.lease_until - timed.at)::float8 * 1000 AS "leftMs"
  ), attempt AS (
    INSERT INTO notification_attempt (notification_id, number, action, begun_at, notifier)
    SELECT id, number, :action, "begunAt", :notifier FROM begun
  )
  SELECT begun.*, CASE WHEN begun.id IS NOT NULL THEN NULL WHEN timed.id IS NULL OR timed.lease_until <= timed.at + :timeoutMs::int * interval '1 millisecond' THEN 'lost'
    WHEN timed.expires_at <= timed.at THEN 'expired' ELSE 'bad-address' END AS why
  FROM (SELECT ${HELD_AT_MOST}) one LEFT JOIN timed ON true LEFT JOIN begun ON true`;

const WRITE = `
  state = :state, doubtful = :doubtful, code = :code, detail = :detail, claim = NULL, lease_until = NULL, version = n.version + 1,
  next_attempt_at = coalesce(:nextAttemptAt::timestamptz, n.next_attempt_at),
  first_begun_at = CASE WHEN :forgets THEN NULL ELSE n.first_begun_at END,
  settled_at = CASE WHEN :over THEN clock_timestamp() END`;

/**
 * Late: the claim was lost, and the attempt's end is heard all the same. As long as nothing was begun since, it says what became of what is
 * in doubt, and counts as if it came in time. That the provider has it counts whatever was done since, except what a person decided.
 */
const LATE = `
  WITH late AS (
    UPDATE notification n SET ${WRITE}
    WHERE id = :id AND (
      attempts = :number AND doubtful AND state = 'pending' AND NOT :unheard
      OR :state = 'sent' AND (state IN ('pending', 'sending', 'unknown')
        OR state IN ('failed', 'expired') AND coalesce(code, '') NOT LIKE 'resolved-%'))
    RETURNING id)
  SELECT id FROM late`;

/** Writes about what a sender has, each as long as it has it. */
export class Attempts {
  constructor(private readonly database: Database) {}

  /**
   * The attempt is written before the provider is asked, and committed with it that the notification is in doubt from now on, until somebody
   * writes an end. Only while the claim is ours and enough of its lease is left, by the database's clock.
   */
  async begin({ content, ...values }: Beginning): Promise<BegunAttempt | NotBegun> {
    // In a transaction, where statements are prepared: to parse and plan this one costs the database more than to run it.
    const [row] = await this.database.transaction((tx) =>
      query<BegunAttempt & { why: NotBegun | null }>(tx, BEGIN, { ...values, content: JSON.stringify(content) }),
    );
    return !row || row.why !== null ? (row?.why ?? 'lost') : row;
  }

  /** Without an attempt. False: it was not ours any more, and nothing is written. */
  async conclude(ours: Ours, verdict: Verdict): Promise<boolean> {
    return this.database.transaction((tx) => settleOurs(tx, ours, verdict));
  }

  /** An attempt's end, what it makes of the notification, and what it tells of the provider; together. */
  settle(ours: Ours, ending: Ending, verdict: Verdict, about: Report): Promise<'written' | 'late' | 'lost'> {
    return this.database.transaction(async (tx) => {
      await query(
        tx,
        `WITH ended AS (
           UPDATE notification_attempt SET ended_at = clock_timestamp(), outcome = :outcome, code = :code, detail = :detail, provider_reference = :reference
           WHERE notification_id = :id AND number = :number AND outcome IS NULL)
         SELECT ${HELD_AT_MOST}`,
        { id: ours.id, ...ending },
      );
      const inTime = await settleOurs(tx, ours, verdict);
      if (ending.badAddress) await markAddress(tx, ours.id, ending);
      if (inTime) {
        await report(tx, about);
        return 'written';
      }
      const values = { ...writing(verdict), id: ours.id, number: ending.number };
      const late = await query(tx, LATE, { ...values, unheard: ending.outcome === 'unknown' });
      return late.length > 0 ? 'late' : 'lost';
    });
  }
}

function writing(verdict: Verdict) {
  const { state, doubtful, code, detail } = verdict;
  const waits = verdict.state === 'pending' ? verdict : undefined;
  return {
    ...{ state, doubtful, code, detail, forgets: waits?.forgets ?? false },
    nextAttemptAt: waits?.nextAttemptAt ?? null,
    over: state !== 'pending' && state !== 'unknown',
  };
}

async function settleOurs(tx: Tx, { id, claim }: Ours, verdict: Verdict): Promise<boolean> {
  const rows = await query(
    tx,
    `WITH settled AS (UPDATE notification n SET ${WRITE} WHERE id = :id AND claim = :claim AND state = 'sending' RETURNING id) SELECT id, ${HELD_AT_MOST} FROM settled`,
    { ...writing(verdict), id, claim },
  );
  return rows.length > 0;
}

/** Of what waits, under its rows' locks. */
export const endAll = (tx: Tx, ids: readonly string[], verdict: Verdict): Promise<unknown> =>
  query(tx, `UPDATE notification n SET ${WRITE} WHERE id = ANY(:ids::uuid[])`, { ...writing(verdict), ids });

const markAddress = (tx: Tx, id: string, { code, detail }: Ending): Promise<unknown> =>
  query(
    tx,
    `INSERT INTO notification_bad_address (channel, address, code, detail, since)
     SELECT channel, address, :code, :detail, clock_timestamp() FROM notification WHERE id = :id ON CONFLICT DO NOTHING`,
    { id, code, detail },
  );
