import type { Database } from '../../../platform/database';
import { SEQUENCE_POSITION } from '../read-query';
import type { RelayReport } from '../relay-report';

export interface ParkedLaneStatus {
  topic: string;
  partition: number;
  since: Date;
  code: string;
  reason: string;
  /** Attempts to drain it that failed. */
  attempts: number;
  nextAttemptAt: Date;
  /** Messages that wait for it. */
  rows: number;
}

/** Where the outbox stands, as the tables say: the same from every process. */
export interface OutboxStatus {
  /** null: no relay owns it now, so nothing is sent. */
  owner: { instance: string; epoch: string; leaseUntil: Date } | null;
  /** Committed messages that are neither acknowledged nor parked. */
  pending: { rows: number; oldest: Date | null; /** Without an owner: an upper bound. */ exact: boolean };
  failingLanes: RelayReport['failingLanes'];
  parkedLanes: ParkedLaneStatus[];
  counts: ParkedCounts;
}

/** Parked messages by state; unsettled ones only. */
export interface ParkedCounts {
  waiting: number;
  held: number;
  dead: number;
  retrying: number;
  /** Birth of the oldest of them. */
  oldest: Date | null;
}

interface CursorRow {
  owner: string | null;
  epoch: string;
  leaseUntil: Date;
  alive: boolean;
  report: RelayReport | null;
  above: string;
}

/** @param topics only lanes of these; null: all */
export async function outboxStatus(db: Database, topics: readonly string[] | null): Promise<OutboxStatus> {
  const [[cursor], lanes, counts] = await Promise.all([
    db.query<CursorRow>(
      `SELECT owner, epoch::text, lease_until AS "leaseUntil", owner IS NOT NULL AND lease_until > clock_timestamp() AS alive, report,
              greatest(0, (${SEQUENCE_POSITION}) - floor_xmax)::text AS above FROM outbox_cursor`,
    ),
    db.query<ParkedLaneStatus>(
      `SELECT l.topic, l.partition, l.since, l.code, l.reason, l.attempts, l.next_attempt_at AS "nextAttemptAt",
              (SELECT count(*)::int FROM parked_outbound p WHERE p.topic = l.topic AND p.partition = l.partition AND p.state = 'waiting') AS rows
       FROM parked_lane l WHERE :topics::text[] IS NULL OR l.topic = ANY(:topics::text[]) ORDER BY l.topic, l.partition`,
      { topics },
    ),
    parkedCounts(db, topics),
  ]);
  if (!cursor) throw new Error('outbox_cursor has no row');
  const { report } = cursor;
  const known = cursor.alive ? report : null;
  return {
    owner: cursor.alive
      ? { instance: instanceOf(cursor.owner ?? ''), epoch: cursor.epoch, leaseUntil: cursor.leaseUntil }
      : null,
    pending: {
      rows: known?.pendingRows ?? Number(cursor.above),
      oldest: known?.oldestPending ? new Date(known.oldestPending) : null,
      exact: known !== null,
    },
    failingLanes: (known?.failingLanes ?? []).filter((lane) => topics === null || topics.includes(lane.topic)),
    parkedLanes: lanes,
    counts,
  };
}

/** Costs an index-only scan of what is parked: for people, and for metrics now and then. */
export async function parkedCounts(db: Database, topics: readonly string[] | null = null): Promise<ParkedCounts> {
  const counts: ParkedCounts = { waiting: 0, held: 0, dead: 0, retrying: 0, oldest: null };
  const rows = await db.query<{ state: keyof Omit<ParkedCounts, 'oldest'>; count: string; first: string }>(
    `SELECT state, count(*)::text AS count, min(seq)::text AS first FROM parked_outbound
     WHERE state <> 'discarded' AND (:topics::text[] IS NULL OR topic = ANY(:topics::text[])) GROUP BY state`,
    { topics },
  );
  for (const { state, count } of rows) counts[state] = Number(count);
  if (rows.length === 0) return counts;
  const [oldest] = await db.query<{ time: Date | null }>(
    'SELECT min(time) AS time FROM outbox_message WHERE seq = ANY(:seqs::bigint[])',
    { seqs: rows.map((row) => row.first) },
  );
  return { ...counts, oldest: oldest?.time ?? null };
}

/** A lease is named after its process and one relay object of it. */
const instanceOf = (owner: string): string => owner.replace(/ [0-9a-f]{8}$/, '');
