import { laneKey, type TopicPartition } from './topic-partition';

export interface CommitEntry extends TopicPartition {
  /** Offset of the next record to read. */
  next: bigint;
}

/**
 * Turns many small "done up to here" into few commits: the first at once, then at most one per interval, all partitions in
 * one request, the last one always. A commit that fails is repeated until something newer replaces it or the generation ends.
 */
export class OffsetCommitter {
  private pending = new Map<string, CommitEntry>();
  private timer: NodeJS.Timeout | undefined;
  private underway: Promise<void> | undefined;
  private lastCommit = -Infinity;
  private generation = 0;

  constructor(
    private readonly commit: (entries: readonly CommitEntry[]) => Promise<void>,
    private readonly intervalMs: number,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  add(entry: CommitEntry): void {
    this.pending.set(laneKey(entry), entry);
    this.schedule();
  }

  /** What is pending belongs to a generation that is over; its new owner knows better. */
  clear(): void {
    this.generation++;
    this.pending.clear();
  }

  /** Resolves when all that is known to be done was sent once, whatever came of it. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.underway;
    if (this.pending.size === 0) return;
    this.underway ??= this.send().finally(() => {
      this.underway = undefined;
      this.schedule();
    });
    await this.underway;
  }

  private schedule(): void {
    if (this.timer || this.underway || this.pending.size === 0) return;
    const wait = Math.max(0, this.lastCommit + this.intervalMs - performance.now());
    this.timer = setTimeout(() => void this.flush(), wait);
  }

  private async send(): Promise<void> {
    const { pending: entries, generation } = this;
    this.pending = new Map();
    this.lastCommit = performance.now();
    try {
      await this.commit([...entries.values()]);
    } catch (error) {
      this.onFailure(error);
      if (generation !== this.generation) return;
      for (const [key, entry] of entries) if (!this.pending.has(key)) this.pending.set(key, entry);
    }
  }
}
