import type { Client } from 'pg';
import type { Floor } from './floors';
import { type Parking, parkingSql } from './parking/parked-rows';
import { receiptSql, receiptValues, type Run } from './receipt-runs';
import type { RelayReport } from './relay-report';
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
  /**
   * Where the row's newest version lies. Behind a transaction that stays open for long no version can be cleaned away, and
   * looking for the newest among them takes longer with every write; its address does not.
   */
  private place: string | undefined;

  constructor(
    private readonly client: Client,
    readonly epoch: bigint,
    /** Until the first attempt to drain a lane that is parked, ms. */
    private readonly firstPauseMs: number,
  ) {}

  /**
   * Stores the position, its floor, the receipts of what was sent and the rows that are parked, in one statement: all or nothing.
   * Moves and parks nothing and throws {@link LeaseLostError} when the epoch is no longer ours (receipts are kept then too: they
   * are facts). Returns the transaction id of the statement, for {@link Floors.mark}.
   */
  async write(position: Position, floor: Floor, runs: readonly Run[], parking?: Parking): Promise<bigint> {
    const { window } = position;
    const values = [
      formatSnapshot(position.done),
      window && formatSnapshot(window.snapshot),
      window && window.hi,
      window && window.last,
      floor.xmax,
      floor.xmin,
    ];
    const set = 'done = $1, win = $2, hi = $3, last_seq = $4, floor_xmax = $5, floor_xmin = $6';
    const ctes: string[] = [];
    if (runs.length > 0) {
      ctes.push(receiptSql(values.length + 1));
      values.push(...(receiptValues(runs) as typeof values));
    }
    const after = parking && parkingSql(values.length + 1);
    if (parking) values.push(...(parking.values(this.firstPauseMs) as typeof values));
    return this.update(ctes, set, values, after);
  }

  /** Moves nothing but the end of the lease, and says how it goes. A statement of its own, so that a quiet relay keeps it. Throws {@link LeaseLostError}. */
  async renewLease(leaseMs: number, report: RelayReport): Promise<void> {
    await this.update([], 'lease_until = clock_timestamp() + make_interval(secs => $1), report = $2', [
      leaseMs / 1000,
      JSON.stringify(report),
    ]);
  }

  /** @param after CTEs that read `moved`, which has a row only if the epoch is ours */
  private async update(before: readonly string[], set: string, values: unknown[], after?: string): Promise<bigint> {
    const run = async (condition: string): Promise<{ xid: string; place: string } | undefined> => {
      const move = `UPDATE outbox_cursor SET ${set} WHERE epoch = ${this.epoch}${condition}
         RETURNING pg_current_xact_id()::text AS xid, ctid::text AS place`;
      const ctes = after === undefined ? before : [...before, `moved AS (${move})`, after];
      const { rows } = await this.client.query<{ xid: string; place: string }>(
        `${ctes.length > 0 ? `WITH ${ctes.join(', ')}` : ''} ${after === undefined ? move : 'SELECT xid, place FROM moved'}`,
        values,
      );
      return rows[0];
    };
    // Moved (VACUUM FULL): look for it. Receipts that were inserted twice say the same.
    const row = (this.place && (await run(` AND ctid = '${this.place}'`))) || (await run(''));
    if (!row) throw new LeaseLostError();
    this.place = row.place;
    return BigInt(row.xid);
  }
}
