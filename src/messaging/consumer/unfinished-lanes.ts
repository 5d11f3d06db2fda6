import type { RecordBatch } from '../kafka';
import type { Fetched, PartitionWork } from './partition-work';
import { laneOf } from './record-identity';

/** How long a partition that went away unfinished counts; it comes again sooner, unless it is another process's now. */
const REMEMBERED_MS = 30_000;

/** Partitions whose records went back to the source without an outcome: during an outage they wait there, not in hand. */
export class UnfinishedLanes {
  private readonly lanes = new Map<string, { oldest: number; until: number; fetched: Fetched | undefined }>();

  left(work: PartitionWork, now: number): void {
    const oldest = work.oldestUnsettled;
    if (oldest !== undefined) {
      this.lanes.set(laneOf(work), { oldest, until: now + REMEMBERED_MS, fetched: work.fetched });
    }
  }

  /** Forgets the partition, which is in hand again, and says what of it was fetched before. */
  returned(batch: RecordBatch): Fetched | undefined {
    const lane = this.lanes.get(laneOf(batch));
    this.lanes.delete(laneOf(batch));
    return lane?.fetched;
  }

  /** Broker's time of the oldest record among them, in ms since the epoch; Infinity: none. */
  oldest(now: number): number {
    for (const [lane, { until }] of this.lanes) if (until <= now) this.lanes.delete(lane);
    return Math.min(...[...this.lanes.values()].map((lane) => lane.oldest));
  }
}
