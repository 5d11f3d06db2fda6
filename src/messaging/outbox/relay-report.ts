/** What the owner tells other processes, in `outbox_cursor.report`. At most as old as a third of the lease. */
export interface RelayReport {
  pendingRows: number;
  /** RFC 3339; null when nothing is pending. */
  oldestPending: string | null;
  failingLanes: readonly {
    topic: string;
    partition: number;
    rows: number;
    failures: number;
    code: string;
    error: string;
    /** RFC 3339 */
    since: string;
  }[];
}
