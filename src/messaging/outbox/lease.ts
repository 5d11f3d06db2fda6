import type { Client } from 'pg';
import { type Cursor, type CursorState, STATE_COLUMNS, type StateRow, toState } from './cursor';
import type { RelayReport } from './relay-report';

/**
 * The right to move the cursor, by compare-and-set on the state row and the database's clock. A lease that ran out is still
 * ours until somebody takes it: only `epoch`, which every cursor write carries, decides.
 */
export class Lease {
  /** By our own clock, counted from before the last statement that granted it: after it another relay may have begun. */
  private until = 0;

  /** @param owner unique to this relay object, so that a reconnecting relay may take its own lease again at once */
  constructor(
    readonly owner: string,
    private readonly leaseMs: number,
  ) {}

  /** False once the lease may have run out, as after a pause of the process. Then nothing new is sent until it is renewed. */
  get seemsOurs(): boolean {
    return performance.now() < this.until;
  }

  /** Takes the lease if it is free, ran out or is ours, with a new epoch; undefined when another relay holds it. */
  async acquire(client: Client): Promise<CursorState | undefined> {
    const before = performance.now();
    const { rows } = await client.query<StateRow>(
      `UPDATE outbox_cursor SET owner = $1, epoch = epoch + 1, lease_until = clock_timestamp() + make_interval(secs => $2), report = NULL
       WHERE owner IS NULL OR owner = $1 OR lease_until < clock_timestamp() RETURNING ${STATE_COLUMNS}`,
      [this.owner, this.leaseMs / 1000],
    );
    const [row] = rows;
    if (!row) return undefined;
    this.until = before + this.leaseMs;
    return toState(row);
  }

  /** Throws {@link LeaseLostError} when another relay has it. */
  async renew(cursor: Cursor, report: RelayReport): Promise<void> {
    const before = performance.now();
    await cursor.renewLease(this.leaseMs, report);
    this.until = before + this.leaseMs;
  }

  /** Gives the lease up, so that a standby takes over at once. */
  async release(client: Client, epoch: bigint): Promise<void> {
    this.until = 0;
    await client.query(
      `UPDATE outbox_cursor SET owner = NULL, lease_until = '-infinity', report = NULL WHERE epoch = $1`,
      [epoch],
    );
  }
}
