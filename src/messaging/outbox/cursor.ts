import type { Client } from 'pg';
import type { Floor } from './floors';
import type { Run } from './receipt-runs';
import { formatSnapshot, parseSnapshot } from './snapshot';
import type { Position } from './window';

/** The state row as it was read when the lease was taken. */
export interface CursorState {
  position: Position;
  floor: Floor;
  /** Rows up to this number came from another cluster: their ids mean nothing here, they are paged as they are. */
  foreignUpto: bigint;
  /** The cluster whose transaction ids `position` speaks of. */
  systemIdentifier: string;
  epoch: bigint;
}

/** Somebody else took the lease: nothing was moved. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor() {
    super('another relay has taken over the outbox');
  }
}

export const STATE_COLUMNS =
  'done::text, win::text, hi, last_seq, floor_xmax, floor_xmin, foreign_upto, system_identifier, epoch';

export interface StateRow {
  done: string;
  win: string | null;
  hi: string | null;
  last_seq: string | null;
  floor_xmax: string;
  floor_xmin: string;
  foreign_upto: string;
  system_identifier: string;
  epoch: string;
}

export function toState(row: StateRow): CursorState {
  const { win, hi, last_seq: last } = row;
  const window =
    win === null || hi === null || last === null
      ? null
      : { snapshot: parseSnapshot(win), hi: BigInt(hi), last: BigInt(last) };
  return {
    position: { done: parseSnapshot(row.done), window },
    floor: { xmax: BigInt(row.floor_xmax), xmin: BigInt(row.floor_xmin) },
    foreignUpto: BigInt(row.foreign_upto),
    systemIdentifier: row.system_identifier,
    epoch: BigInt(row.epoch),
  };
}

/**
 * Moves the cursor. Its connection has `synchronous_commit = off`: a crash of the database may forget the last moves, and then
 * rows are sent again, never left out.
 */
export class Cursor {
  constructor(
    private readonly client: Client,
    readonly epoch: bigint,
  ) {}

  /**
   * Stores the position, its floor and the receipts of what was sent, in one statement: all or nothing. Moves nothing and
   * throws {@link LeaseLostError} when the epoch is no longer ours (receipts are kept then too: they are facts). Returns
   * the transaction id of the statement, for {@link Floors.mark}.
   */
  async write(position: Position, floor: Floor, runs: readonly Run[]): Promise<bigint> {
    const { window } = position;
    const { rows } = await this.client.query<{ xid: string }>(
      `WITH receipt AS (
         INSERT INTO outbox_receipt (topic, partition, base_offset, first_seq, last_seq, seqs)
         SELECT t, p, b, f, l, s::bigint[] FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[]) u(t, p, b, f, l, s))
       UPDATE outbox_cursor SET done = $7, win = $8, hi = $9, last_seq = $10, floor_xmax = $11, floor_xmin = $12
       WHERE epoch = $13 RETURNING pg_current_xact_id()::text AS xid`,
      [
        runs.map((run) => run.topic),
        runs.map((run) => run.partition),
        runs.map((run) => run.baseOffset),
        runs.map((run) => run.firstSeq),
        runs.map((run) => run.lastSeq),
        runs.map((run) => `{${run.seqs.join(',')}}`),
        formatSnapshot(position.done),
        window && formatSnapshot(window.snapshot),
        window && window.hi,
        window && window.last,
        floor.xmax,
        floor.xmin,
        this.epoch,
      ],
    );
    const [row] = rows;
    if (!row) throw new LeaseLostError();
    return BigInt(row.xid);
  }
}
