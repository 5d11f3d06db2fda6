import type { InboundRecord } from '../kafka';
import type { PartitionWork } from './partition-work';

/** Records that one partition gives to a batch. */
export interface Portion {
  work: PartitionWork;
  records: readonly InboundRecord[];
}

/** Partitions of one partner that wait for a batch. */
export class PartnerQueue {
  private readonly waiting: PartitionWork[] = [];
  /** Batches of this partner that are being settled. */
  running = 0;

  add(work: PartitionWork): void {
    this.waiting.push(work);
  }

  /**
   * Milliseconds until a batch is worth starting; 0: now. Full: at once. Not full: when its oldest part has lingered, and
   * not beside a running one, whose time fills it.
   */
  dueIn(batchSize: number, lingerMs: number, now: number): number {
    const [oldest] = this.waiting;
    if (!oldest) return Infinity;
    if (this.waiting.reduce((sum, work) => sum + work.remaining, 0) >= batchSize) return 0;
    return this.running > 0 ? Infinity : Math.max(0, oldest.arrivedAt + lingerMs - now);
  }

  /** Takes up to `limit` records, from the partitions in their turn. These give nothing more until they are added again. */
  take(limit: number): Portion[] {
    const portions: Portion[] = [];
    for (let left = limit; left > 0 && this.waiting.length > 0;) {
      const work = this.waiting.shift() as PartitionWork;
      const records = work.take(left);
      left -= records.length;
      portions.push({ work, records });
    }
    return portions;
  }

  /** Empties the queue. */
  drain(): PartitionWork[] {
    return this.waiting.splice(0);
  }
}
