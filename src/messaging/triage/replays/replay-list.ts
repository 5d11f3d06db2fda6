import type { Database } from '../../../platform/database';
import { decodeCursor, type Page, pageOf } from '../../../platform/http';
import type { Caller } from '../../../staff';
import { type Behind, BEHIND_COLUMNS, BEHIND_JOIN, behindInWords } from '../behind';
import { type Suspension, SUSPENSION_COLUMNS, SUSPENSION_JOIN, suspensionInWords } from '../suspension';
import type { ItemOutcome, Replay, ReplayState } from './replay';
import { REPLAY_COLUMNS, type ReplayRow, toReplay, VISIBLE } from './replay-store';

export interface ReplayProgress {
  outcomes: Record<ItemOutcome, number>;
  /** Messages that came to an end in the last minute, a second. */
  ratePerSecond: number;
}

/** A message of a replay, and how it stands now. */
export interface ReplayItem {
  id: string;
  partner: string;
  key: string | null;
  contract: string | null;
  outcome: ItemOutcome;
  /**
   * `held-behind` while an earlier message of its key stands before it: until that one is resolved, no replay of this one ends; `partner-suspended` while its
   * partner is: until that one is resumed.
   */
  code: string | null;
  detail: string | null;
  at: Date | null;
  /** While it waits. */
  attempts: number | null;
  nextAttemptAt: Date | null;
}

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const NUMBER = /^\d{1,19}$/;
const NOTHING: Record<ItemOutcome, number> = { planned: 0, waiting: 0, processed: 0, 'failed-again': 0, skipped: 0 };

type Viewer = Pick<Caller, 'id' | 'partners'>;
const seenBy = ({ id, partners }: Viewer) => ({ caller: id, partners });

/** Reading replays. A caller that is confined to partners sees those of which all messages are theirs. */
export class ReplayList {
  constructor(private readonly database: Database) {}

  async find(id: string, viewer: Viewer): Promise<Replay | undefined> {
    if (!UUID.test(id)) return undefined;
    const [row] = await this.database.query<ReplayRow>(
      `SELECT ${REPLAY_COLUMNS} FROM replay WHERE id = :id AND ${VISIBLE}`,
      { id, ...seenBy(viewer) },
    );
    return row && toReplay(row);
  }

  /** Newest first. Throws `cursor-invalid`. */
  async page(
    viewer: Viewer,
    state: ReplayState | undefined,
    limit: number,
    cursor: string | undefined,
  ): Promise<Page<Replay>> {
    const [before, beforeId] = cursor === undefined ? [] : decodeCursor(cursor, [TIME, UUID]);
    const rows = await this.database.query<ReplayRow>(
      `SELECT ${REPLAY_COLUMNS} FROM replay WHERE ${VISIBLE} AND (:state::text IS NULL OR state = :state)
         AND (:before::timestamptz IS NULL OR (planned_at, id) < (:before, :beforeId::uuid)) ORDER BY planned_at DESC, id DESC LIMIT :limit`,
      { ...seenBy(viewer), state: state ?? null, before: before ?? null, beforeId: beforeId ?? null, limit: limit + 1 },
    );
    return pageOf(rows.map(toReplay), limit, ({ plannedAt, id }) => [plannedAt.toISOString(), id]);
  }

  /** By id of each replay. */
  async progress(ids: readonly string[]): Promise<Map<string, ReplayProgress>> {
    const rows = await this.database.query<{ id: string; outcome: ItemOutcome; count: number; recent: number }>(
      `SELECT replay_id AS id, outcome, count(*)::int AS count,
         count(*) FILTER (WHERE outcome IN ('processed', 'failed-again') AND at > clock_timestamp() - interval '1 minute')::int AS recent
       FROM replay_item WHERE replay_id = ANY(:ids::uuid[]) GROUP BY 1, 2`,
      { ids },
    );
    return new Map(
      ids.map((id) => {
        const own = rows.filter((row) => row.id === id);
        const outcomes = { ...NOTHING, ...Object.fromEntries(own.map(({ outcome, count }) => [outcome, count])) };
        return [id, { outcomes, ratePerSecond: own.reduce((sum, { recent }) => sum + recent, 0) / 60 }];
      }),
    );
  }

  /** In order of their ids, which within a key is that of the messages. Throws `cursor-invalid`. */
  async items(
    id: string,
    outcome: ItemOutcome | undefined,
    limit: number,
    cursor: string | undefined,
  ): Promise<Page<ReplayItem>> {
    const [after] = cursor === undefined ? [] : decodeCursor(cursor, [NUMBER]);
    const rows = await this.database.query<Row>(
      `SELECT i.parked_id AS id, p.partner, p.key, p.type AS contract, i.outcome, i.code, i.detail, i.at,
         CASE i.outcome WHEN 'waiting' THEN p.attempts END AS attempts, CASE i.outcome WHEN 'waiting' THEN p.next_attempt_at END AS "nextAttemptAt",
         ${BEHIND_COLUMNS}, ${SUSPENSION_COLUMNS}
       FROM replay_item i LEFT JOIN parked_inbound p ON p.id = i.parked_id ${BEHIND_JOIN} ${SUSPENSION_JOIN}
       WHERE i.replay_id = :id AND (:outcome::text IS NULL OR i.outcome = :outcome) AND i.parked_id > :after
       ORDER BY i.parked_id LIMIT :limit`,
      { id, outcome: outcome ?? null, after: after ?? '0', limit: limit + 1 },
    );
    return pageOf(rows.map(toItem), limit, (item) => [item.id]);
  }
}

type Row = ReplayItem & Behind & Suspension;

function toItem(row: Row): ReplayItem {
  const { behindId, behindState, behindCode, ...others } = row;
  const { isSuspended, suspendedSince, suspendedBecause, ...item } = others;
  if (item.outcome !== 'waiting') return item;
  const suspension = suspensionInWords({ partner: item.partner, isSuspended, suspendedSince, suspendedBecause });
  if (suspension !== undefined) return { ...item, code: 'partner-suspended', detail: suspension };
  if (behindId === null) return item;
  return { ...item, code: 'held-behind', detail: behindInWords({ behindId, behindState, behindCode }) };
}
