import type { PartitionWork } from './partition-work';

/** How long a partition that went away unfinished counts; it comes again sooner, unless it is another process's now. */
const REMEMBERED_MS = 30_000;

/** Partitions whose records went back to the source without an outcome: during an outage they wait there, not in hand. */
export class UnfinishedLanes {
  private readonly lanes = new Map<string, { oldest: number; until: number }>();

  left(work: PartitionWork, now: number): void {
    const oldest = work.oldestUnsettled;
    if (oldest !== undefined) this.lanes.set(laneOf(work), { oldest, until: now + REMEMBERED_MS });
  }

  returned(work: PartitionWork): void {
    this.lanes.delete(laneOf(work));
  }

  /** Broker's time of the oldest record among them, in ms since the epoch; Infinity: none. */
  oldest(now: number): number {
    for (const [lane, { until }] of this.lanes) if (until <= now) this.lanes.delete(lane);
    return Math.min(...[...this.lanes.values()].map((lane) => lane.oldest));
  }
}

const laneOf = ({ topic, partition }: PartitionWork): string => `${topic}/${partition}`;
