import { query, type Tx } from '../../../platform/database';
import type { Person, Replay, ReplayPlan, ReplayState, Selection } from './replay';

export interface ReplayRow extends Omit<Replay, 'plannedBy' | 'startedBy'> {
  plannedById: string;
  plannedByName: string;
  startedById: string | null;
  startedByName: string | null;
}

export const REPLAY_COLUMNS = `id, state, selection, plan, reason, pace, planned_by AS "plannedById", planned_by_name AS "plannedByName",
  planned_at AS "plannedAt", expires_at AS "expiresAt", started_by AS "startedById", started_by_name AS "startedByName",
  started_at AS "startedAt", ended_at AS "endedAt"`;

/**
 * What a caller sees: replays all of whose partners it may see now, also of its own; for it may have been confined since. Which these are is known once
 * the set is planned; of none at all it sees its own.
 */
export const VISIBLE = `(:partners::text[] IS NULL
  OR (partners <@ :partners::text[] AND (partners <> '{}' OR (plan IS NOT NULL AND planned_by = :caller))))`;

export function toReplay(row: ReplayRow): Replay {
  const { plannedById, plannedByName, startedById, startedByName, ...replay } = row;
  return {
    ...replay,
    plannedBy: { id: plannedById, name: plannedByName },
    startedBy: startedById === null ? null : { id: startedById, name: startedByName ?? startedById },
  };
}

export interface NewReplay {
  id: string;
  state: ReplayState;
  selection: Selection;
  pace: number | null;
  plannedBy: Person;
  plannedAt: Date;
  expiresAt: Date | null;
}

/** The rows of `replay`; writing. */
export class ReplayStore {
  async add(tx: Tx, replay: NewReplay): Promise<void> {
    const { ids, ...filter } = replay.selection;
    await query(
      tx,
      `INSERT INTO replay (id, state, selection, pace, planned_by, planned_by_name, planned_at, expires_at)
       VALUES (:id, :state, :selection, :pace, :by, :byName, :plannedAt, :expiresAt)`,
      {
        ...replay,
        selection: JSON.stringify(ids === undefined ? filter : { ids: ids.length }),
        by: replay.plannedBy.id,
        byName: replay.plannedBy.name,
      },
    );
  }

  async planned(tx: Tx, id: string, plan: ReplayPlan, partners: readonly string[]): Promise<Replay> {
    const rows = await query<ReplayRow>(
      tx,
      `UPDATE replay SET state = 'planned', plan = :plan, partners = :partners::text[] WHERE id = :id RETURNING ${REPLAY_COLUMNS}`,
      { id, plan: JSON.stringify(plan), partners },
    );
    return toReplay(rows[0] as ReplayRow);
  }

  /** The replay, locked: no step of it runs meanwhile, and no other change of its state. */
  async lock(
    tx: Tx,
    id: string,
    caller: { id: string; partners: readonly string[] | null },
  ): Promise<Replay | undefined> {
    const rows = await query<ReplayRow>(
      tx,
      `SELECT ${REPLAY_COLUMNS} FROM replay WHERE id = :id AND ${VISIBLE} FOR NO KEY UPDATE`,
      { id, partners: caller.partners, caller: caller.id },
    );
    return rows[0] && toReplay(rows[0]);
  }

  /** `next_at`: now, so that a pause is not caught up with. */
  async start(
    tx: Tx,
    id: string,
    start: { by: Person; reason: string; pace: number | null; now: Date },
  ): Promise<Replay> {
    const rows = await query<ReplayRow>(
      tx,
      `UPDATE replay SET state = 'running', started_by = :by, started_by_name = :byName, reason = :reason, pace = :pace,
         started_at = :now, expires_at = NULL, next_at = clock_timestamp()
       WHERE id = :id RETURNING ${REPLAY_COLUMNS}`,
      { id, ...start, by: start.by.id, byName: start.by.name },
    );
    return toReplay(rows[0] as ReplayRow);
  }

  async move(tx: Tx, id: string, state: ReplayState, endedAt: Date | null): Promise<Replay> {
    const rows = await query<ReplayRow>(
      tx,
      `UPDATE replay SET state = :state, ended_at = :endedAt, next_at = clock_timestamp() WHERE id = :id RETURNING ${REPLAY_COLUMNS}`,
      { id, state, endedAt },
    );
    return toReplay(rows[0] as ReplayRow);
  }
}
