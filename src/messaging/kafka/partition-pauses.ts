import { laneKey, type TopicPartition } from './topic-partition';

interface Pause {
  reason: string;
  timer: NodeJS.Timeout;
}

/** Partitions whose fetching rests, with the reason. A rebalance doesn't wake them: each wakes by its own timer. */
export class PartitionPauses {
  private readonly resting = new Map<string, Pause>();
  private readonly reasons = new Map<string, string>();
  private readonly failures = new Map<string, number>();

  /** @param stop takes the partition out of the fetch loop and returns what puts it back */
  start(lane: TopicPartition, ms: number, reason: string, stop: () => () => void): void {
    const key = laneKey(lane);
    clearTimeout(this.resting.get(key)?.timer);
    this.reasons.set(key, `${key}: ${reason}`);
    const resume = stop();
    const timer = setTimeout(() => {
      this.resting.delete(key);
      resume();
    }, ms);
    this.resting.set(key, { reason, timer });
  }

  /** How many deliveries of this partition have failed in a row, this one included. */
  failed(lane: TopicPartition): number {
    const count = (this.failures.get(laneKey(lane)) ?? 0) + 1;
    this.failures.set(laneKey(lane), count);
    return count;
  }

  /** A batch went through. */
  healed(lane: TopicPartition): void {
    this.failures.delete(laneKey(lane));
    this.reasons.delete(laneKey(lane));
  }

  get trouble(): string[] {
    return [...this.reasons.values()];
  }

  clear(): void {
    for (const { timer } of this.resting.values()) clearTimeout(timer);
    this.resting.clear();
    this.reasons.clear();
  }
}
