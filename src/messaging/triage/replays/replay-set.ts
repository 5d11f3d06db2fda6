import { Conditions, type Database, query, queryAnew, type Tx } from '../../../platform/database';
import { typesOf } from '../dead-letter';
import type { Objection } from './replay-advice';
import { MAX_ITEMS, type Selection, SKIPPED } from './replay';

/** A message of the set about which a room may be asked. */
export interface SetMember {
  id: string;
  partner: string;
  key: string;
  type: string;
  correlationId: string | null;
}

/** The rows of `replay_item` while a plan is made: which messages, and which of them will not be sent. */
export class ReplaySet {
  constructor(private readonly database: Database) {}

  /**
   * Freezes the dead letters that match: what fails later is not in the set. `partners` bounds what the caller may see (null: all).
   * The oldest {@link MAX_ITEMS}; returns how many matched, one more than that standing for "more".
   */
  async freezeMatching(
    tx: Tx,
    replayId: string,
    selection: Selection,
    partners: readonly string[] | null,
  ): Promise<number> {
    const { partner, topic, code, fingerprint, order, since, until } = selection;
    const where = new Conditions()
      .and(`p.state = 'dead'`)
      .within('p.partner', partners)
      .and('p.partner = :partner', { partner })
      .and('p.topic = :topic', { topic })
      .and('p.type = ANY(:types::text[])', {
        types: selection.contract === undefined ? undefined : typesOf(selection.contract),
      })
      .and('p.code = :code', { code })
      .and('p.fingerprint = :fingerprint', { fingerprint })
      .and('p.key = :order AND p.partner IN (SELECT id FROM partner)', { order })
      .and('p.last_failed_at >= :since', { since })
      .and('p.last_failed_at < :until', { until });
    const [row] = await queryAnew<{ found: number }>(
      tx,
      `WITH found AS MATERIALIZED (
         SELECT p.id FROM parked_inbound p WHERE ${where.toString()} ORDER BY p.id LIMIT ${MAX_ITEMS + 1}
       ), frozen AS (
         INSERT INTO replay_item (replay_id, parked_id, outcome) SELECT :replayId, id, 'planned' FROM found ORDER BY id LIMIT ${MAX_ITEMS}
       ) SELECT count(*)::int AS found FROM found`,
      { ...where.values, replayId },
    );
    return row?.found ?? 0;
  }

  /** Freezes the named ones; those that are no dead letters are skipped. Returns how many of the ids are known to the caller. */
  async freezeNamed(
    tx: Tx,
    replayId: string,
    ids: readonly string[],
    partners: readonly string[] | null,
  ): Promise<number> {
    const rows = await queryAnew<{ id: string }>(
      tx,
      `INSERT INTO replay_item (replay_id, parked_id, outcome, code, detail)
       SELECT :replayId, p.id, CASE p.state WHEN 'dead' THEN 'planned' ELSE 'skipped' END,
         CASE WHEN p.state <> 'dead' THEN 'not-dead' END, CASE WHEN p.state <> 'dead' THEN :detail END
       FROM parked_inbound p WHERE p.id = ANY(:ids::bigint[]) AND (:partners::text[] IS NULL OR p.partner = ANY(:partners::text[]))
       ORDER BY p.id RETURNING parked_id AS id`,
      { replayId, ids, partners, detail: SKIPPED['not-dead'] },
    );
    return rows.length;
  }

  /** The next of the set's messages of these types, in order of id. */
  page(replayId: string, types: readonly string[], after: string, limit: number): Promise<SetMember[]> {
    return this.database.query<SetMember>(
      `SELECT i.parked_id AS id, p.partner, p.key, p.type, p.correlation_id AS "correlationId"
       FROM replay_item i JOIN parked_inbound p ON p.id = i.parked_id
       WHERE i.replay_id = :replayId AND i.parked_id > :after AND i.outcome = 'planned' AND p.key IS NOT NULL AND p.type = ANY(:types::text[])
       ORDER BY i.parked_id LIMIT :limit`,
      { replayId, types, after, limit },
    );
  }

  async object(tx: Tx, replayId: string, objections: ReadonlyMap<string, Objection>): Promise<void> {
    if (objections.size === 0) return;
    await queryAnew(
      tx,
      `UPDATE replay_item i SET outcome = 'skipped', code = o.code, detail = o.detail
       FROM unnest(:ids::bigint[], :codes::text[], :details::text[]) o (id, code, detail)
       WHERE i.replay_id = :replayId AND i.parked_id = o.id AND i.outcome = 'planned'`,
      {
        replayId,
        ids: [...objections.keys()],
        codes: [...objections.values()].map(({ code }) => code),
        details: [...objections.values()].map(({ detail }) => detail),
      },
    );
  }

  /** Skips messages whose edit nobody has agreed to yet: what would be sent is not what somebody meant. */
  async skipPendingEdits(tx: Tx, replayId: string): Promise<void> {
    await queryAnew(
      tx,
      `UPDATE replay_item i SET outcome = 'skipped', code = 'edit-pending', detail = :detail
       WHERE i.replay_id = :replayId AND i.outcome = 'planned'
         AND i.parked_id IN (SELECT parked_id FROM parked_edit WHERE state = 'pending')`,
      { replayId, detail: SKIPPED['edit-pending'] },
    );
  }

  /**
   * Skips what stands behind a dead letter that is not sent. Once is enough: whatever stands behind one of these stands behind that one, too.
   * Each key is looked up for itself, and its letters are called dead by what they aren't: where the statistics know of no dead letter yet,
   * as after an outage, all of them were walked for each key (`plan.spec.ts`).
   */
  async skipBehind(tx: Tx, replayId: string): Promise<void> {
    await queryAnew(
      tx,
      `WITH letter AS (
         SELECT p.id, i.parked_id IS NOT NULL AS sent,
           min(p.id) FILTER (WHERE i.parked_id IS NULL) OVER (PARTITION BY p.channel_id, p.key) AS first_not_sent
         FROM (
           SELECT DISTINCT m.channel_id, m.key FROM replay_item j JOIN parked_inbound m ON m.id = j.parked_id
           WHERE j.replay_id = :replayId AND j.outcome = 'planned' AND m.key IS NOT NULL AND m.holds
         ) k CROSS JOIN LATERAL (
           SELECT id, channel_id, key FROM parked_inbound WHERE channel_id = k.channel_id AND key = k.key
             AND holds AND state IN ('waiting', 'held', 'dead') AND state <> ALL('{waiting,held}') OFFSET 0
         ) p LEFT JOIN LATERAL (
           SELECT parked_id FROM replay_item WHERE replay_id = :replayId AND parked_id = p.id AND outcome = 'planned' LIMIT 1
         ) i ON true
       )
       UPDATE replay_item i SET outcome = 'skipped', code = 'behind', detail = :detail
       FROM letter l WHERE i.replay_id = :replayId AND i.parked_id = l.id AND l.sent AND l.first_not_sent < l.id`,
      { replayId, detail: SKIPPED['behind'] },
    );
  }

  /** How many of those that would be sent are no dead letters any more. */
  async gone(tx: Tx, replayId: string): Promise<number> {
    const [row] = await queryAnew<{ gone: number }>(
      tx,
      `SELECT count(*)::int AS gone FROM replay_item i LEFT JOIN parked_inbound p ON p.id = i.parked_id AND p.state = 'dead'
       WHERE i.replay_id = :replayId AND i.outcome = 'planned' AND p.id IS NULL`,
      { replayId },
    );
    return row?.gone ?? 0;
  }

  /** Nothing more of it is sent. */
  async skipRest(tx: Tx, replayId: string): Promise<void> {
    await query(
      tx,
      `UPDATE replay_item SET outcome = 'skipped', code = 'cancelled', detail = :detail, at = clock_timestamp()
       WHERE replay_id = :replayId AND outcome = 'planned'`,
      { replayId, detail: SKIPPED['cancelled'] },
    );
  }
}
