/** What the owner tells other processes, in `outbox_cursor.report`. A third of the lease old at most, of a silent owner a lease more; NULL until its first. */
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
