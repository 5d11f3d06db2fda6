import type { Database } from '../../platform/database';
import { URGENCIES } from '../domain/kind';
import type { Channel, ClaimedNotification } from '../domain/notification';
import type { Forsaken } from '../receivers/moves';
import { END_TRIAL } from './breaker';
import { turnsOf } from './turns';

/** A provider's bucket holds what it may be given in so much time, so that no second sees much more than the rate. */
const BURST_SECONDS = 0.25;

export interface Tap {
  provider: string;
  /** Free places of this process. */
  slots: number;
  perSecond: number;
  leaseMs: number;
  /** Kinds that this release knows; others are left to a newer one. */
  kinds: readonly string[];
  /** Tokens of what was claimed before and not sent: the provider was not asked. */
  unused?: number;
}

/** A notification with what its sender must know beside it. */
export interface Claimed extends ClaimedNotification {
  claim: string;
  quietFrom: string | null;
  quietTo: string | null;
  timeZone: string | null;
  /** Its receiver was removed, or is no longer reached that way, while somebody else was sending it. */
  forsaken: Forsaken | null;
}

export interface Catch {
  claimed: Claimed[];
  /** One alone, behind an open breaker: its outcome opens or closes it. Until then nobody else tries, unless its sender says that it tells nothing. */
  trial: Date | null;
  /** Nothing is to be had before, ms: the bucket is empty or the breaker open. */
  waitMs: number;
  /** By the database, when they were claimed. */
  at: Date;
}

/**
 * By the first limit, which is known when it is planned, what is due is read in the order of its index, one urgency after the other; no more than
 * the second are taken.
 */
const dueBy = (what: string, limit: string, lock = ''): string => `
      SELECT first.* FROM unnest(:urgencies::smallint[]) u(urgency), LATERAL (
        SELECT ${what} FROM notification n
        WHERE n.provider = :provider AND n.state = 'pending' AND n.urgency = u.urgency AND n.next_attempt_at <= (SELECT at FROM room)
          AND n.kind = ANY(:kinds::text[])
        ORDER BY n.next_attempt_at LIMIT ${limit} ${lock}) first`;

/** A trial is looked for among so many that are due. */
const NEAR = 1_000;
/** What has not failed yet: a question says nothing about sending, and what was refused before may be what is wrong. */
const AS_TRIAL = 'doubtful, attempts, urgency, next_attempt_at';

/** A clock that was set back fills the bucket, too: nothing would be sent until it is as late again as it was. */
export const CLAIM = `
  WITH gate AS MATERIALIZED (
    SELECT name, tokens, refilled_at, open_until FROM notification_provider WHERE name = :provider AND disabled_at IS NULL FOR UPDATE
  ), timed AS MATERIALIZED (
    SELECT gate.*, clock_timestamp() AS at FROM gate
  ), tap AS MATERIALIZED (
    SELECT name, at, open_until, open_until IS NOT NULL AS trial, least(:burst::float8, tokens + :unused::float8
      + :rate::float8 * abs(extract(epoch FROM at - coalesce(refilled_at, at - interval '1 hour')))) AS tokens
    FROM timed
  ), room AS MATERIALIZED (
    SELECT *, CASE WHEN open_until > at THEN 0 WHEN trial THEN least(1, floor(tokens)) ELSE least(:slots::int, floor(tokens)) END::int AS places
    FROM tap
  ), due AS MATERIALIZED (
    (${dueBy('n.id', ':slots::int', 'FOR UPDATE SKIP LOCKED')}
    LIMIT (SELECT CASE WHEN trial THEN 0 ELSE places END FROM room))
    UNION ALL
    SELECT id FROM (
      SELECT id FROM notification WHERE state = 'pending' AND id = ANY(ARRAY(
        SELECT id FROM (${dueBy('n.id, n.doubtful, n.attempts, n.urgency, n.next_attempt_at', String(NEAR))}
          LIMIT ${NEAR}) near ORDER BY ${AS_TRIAL} LIMIT 8))
      ORDER BY ${AS_TRIAL} LIMIT (SELECT CASE WHEN trial THEN places ELSE 0 END FROM room) FOR UPDATE SKIP LOCKED) tried
  ), claimed AS (
    UPDATE notification SET state = 'sending', claim = gen_random_uuid(), version = version + 1,
      lease_until = (SELECT at FROM room) + :leaseMs::int * interval '1 millisecond'
    WHERE id = ANY(ARRAY(SELECT id FROM due)) RETURNING *
  ), taken AS (
    UPDATE notification_provider p SET tokens = room.tokens - (SELECT count(*) FROM claimed), refilled_at = room.at,
      open_until = CASE WHEN room.trial THEN room.at + :leaseMs::int * interval '1 millisecond' END
    FROM room WHERE p.name = room.name AND EXISTS (SELECT FROM claimed) RETURNING p.open_until AS until
  )
  SELECT room.at, taken.until AS trial,
    CASE WHEN open_until > room.at THEN extract(epoch FROM open_until - room.at) * 1000
      ELSE greatest(0, 1 - (room.tokens - (SELECT count(*) FROM claimed))) * 1000 / :rate::float8 END::float8 AS "waitMs",
    n.id, n.event_id AS "eventId", n.kind, n.channel, n.provider, n.receiver, n.address, n.partner, n.order_number AS "orderNumber", n.data,
    n.content, n.happened_at AS "happenedAt", n.created_at AS "createdAt", n.expires_at AS "expiresAt", n.attempts,
    n.first_begun_at AS "firstBegunAt", n.doubtful, n.claim, r.quiet_from::text AS "quietFrom",
    r.quiet_to::text AS "quietTo", r.time_zone AS "timeZone",
    CASE WHEN n.receiver IS NULL THEN NULL WHEN r.id IS NULL THEN 'receiver-removed'
      WHEN CASE n.channel WHEN 'email' THEN r.email WHEN 'sms' THEN r.phone ELSE r.webhook_url END IS NULL THEN 'address-removed' END AS forsaken
  FROM room LEFT JOIN taken ON true LEFT JOIN claimed n ON true LEFT JOIN notification_receiver r ON r.id = n.receiver`;

type Row = Claimed & { at: Date; trial: Date | null; waitMs: number };

/** Who has which notification, and until when. One statement each. */
export class Claims {
  /** How often something was claimed for a provider. */
  private readonly catches = new Map<string, number>();

  constructor(private readonly database: Database) {}

  /** Providers that have something due, and are neither disabled nor behind an open breaker; each found by a step in the index (an EXISTS would be joined with all that waits). */
  async due(): Promise<string[]> {
    const rows = await this.database.query<{ provider: string }>(
      `WITH RECURSIVE known AS (
         (SELECT provider FROM notification WHERE state = 'pending' ORDER BY provider LIMIT 1)
         UNION ALL
         SELECT (SELECT provider FROM notification n WHERE state = 'pending' AND n.provider > known.provider ORDER BY n.provider LIMIT 1)
         FROM known WHERE known.provider IS NOT NULL
       )
       SELECT known.provider FROM known LEFT JOIN notification_provider p ON p.name = known.provider
       WHERE known.provider IS NOT NULL AND p.disabled_at IS NULL AND coalesce(p.open_until <= now(), true)
         AND EXISTS (SELECT FROM unnest(:urgencies::smallint[]) u(urgency) WHERE (
           SELECT n.next_attempt_at FROM notification n WHERE n.state = 'pending' AND n.provider = known.provider AND n.urgency = u.urgency
           ORDER BY n.next_attempt_at LIMIT 1) <= now())`,
      { urgencies: URGENCIES.map((_, place) => place) },
    );
    return rows.map(({ provider }) => provider);
  }

  /** Gives a provider its row, from which all processes take its tokens. */
  async introduce(provider: string, channel: Channel): Promise<void> {
    await this.database.query(
      `WITH made AS (INSERT INTO notification_provider (name, channel) VALUES (:provider, :channel) ON CONFLICT DO NOTHING) SELECT`,
      { provider, channel },
    );
  }

  /**
   * Takes at most as many as there are places, tokens and, behind an open breaker, one; what is more urgent first, and now and then what is less. The
   * provider's row is locked first, so limits hold over all processes; clock and limits are read behind that lock. What another has is skipped.
   * Undefined: the provider has no row, or is disabled.
   */
  async claim({ provider, slots, perSecond, leaseMs, kinds, unused = 0 }: Tap): Promise<Catch | undefined> {
    const burst = Math.max(1, perSecond * BURST_SECONDS);
    const catches = this.catches.get(provider) ?? 0;
    const values = { provider, slots, rate: perSecond, burst, leaseMs, kinds, unused, urgencies: turnsOf(catches) };
    const rows = await this.database.query<Row>(CLAIM, values);
    const [first] = rows;
    if (!first) return undefined;
    const { at, trial, waitMs } = first;
    const claimed = rows.filter(({ id }) => id !== null);
    if (claimed.length > 0 && trial === null) this.catches.set(provider, catches + 1);
    return { at, trial, waitMs, claimed };
  }

  /** What was claimed and not begun is anybody's again, as long as it was ours. */
  async giveBack({ id, claim }: Pick<Claimed, 'id' | 'claim'>): Promise<void> {
    await this.database.query(
      `WITH given AS (
         UPDATE notification SET state = 'pending', claim = NULL, lease_until = NULL, version = version + 1
         WHERE id = :id AND claim = :claim AND state = 'sending')
       SELECT`,
      { id, claim },
    );
  }

  /** A trial that never asked the provider has told nothing. */
  async endTrial(provider: string, until: Date): Promise<void> {
    await this.database.query(`WITH ended AS (${END_TRIAL}) SELECT`, { provider, until });
  }

  /**
   * Takes what was claimed from senders whose lease is over. What had begun is in doubt: `begin` wrote so, and when to look at it first. What
   * had not begun is due as it was, and in no doubt. Resolves with how many of each.
   */
  async recover(limit = 500): Promise<{ doubtful: number; unbegun: number }> {
    const [row] = await this.database.query<{ doubtful: number; unbegun: number }>(
      `WITH lapsed AS (
         UPDATE notification SET state = 'pending', claim = NULL, lease_until = NULL, version = version + 1
         WHERE id = ANY(ARRAY(SELECT id FROM notification WHERE state = 'sending' AND lease_until < now() ORDER BY lease_until
           LIMIT :limit FOR UPDATE SKIP LOCKED))
         RETURNING doubtful)
       SELECT count(*) FILTER (WHERE doubtful)::int AS doubtful, count(*) FILTER (WHERE NOT doubtful)::int AS unbegun FROM lapsed`,
      { limit },
    );
    return row ?? { doubtful: 0, unbegun: 0 };
  }
}
