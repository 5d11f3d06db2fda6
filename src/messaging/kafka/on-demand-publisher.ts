import type { LaneBatch, LanePublisher, LaneReceipt } from './types';

/** Long enough for the longest pause of a lane that fails: it comes back to warm connections. */
const IDLE_MS = 60_000;

/**
 * A publisher that is opened by its first use and closed when nobody has used it for a while: the client of lanes that fail,
 * of which there are mostly none.
 */
export function onDemand(open: () => LanePublisher, idleMs = IDLE_MS): LanePublisher & { readonly opened: boolean } {
  return new OnDemandPublisher(open, idleMs);
}

class OnDemandPublisher implements LanePublisher {
  private current: LanePublisher | undefined;
  private users = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly closing = new Set<Promise<void>>();

  constructor(
    private readonly open: () => LanePublisher,
    private readonly idleMs: number,
  ) {}

  get opened(): boolean {
    return this.current !== undefined;
  }

  leaderOf(topic: string, partition: number): Promise<number> {
    return this.use((publisher) => publisher.leaderOf(topic, partition));
  }

  send(batch: LaneBatch): Promise<LaneReceipt> {
    return this.use((publisher) => publisher.send(batch));
  }

  async close(): Promise<void> {
    this.retire();
    await Promise.all(this.closing);
  }

  private async use<T>(work: (publisher: LanePublisher) => Promise<T>): Promise<T> {
    clearTimeout(this.timer);
    this.users++;
    try {
      return await work((this.current ??= this.open()));
    } finally {
      if (--this.users === 0) {
        this.timer = setTimeout(() => this.retire(), this.idleMs);
        this.timer.unref();
      }
    }
  }

  private retire(): void {
    clearTimeout(this.timer);
    const closed = this.current?.close().finally(() => this.closing.delete(closed as Promise<void>));
    this.current = undefined;
    if (closed) this.closing.add(closed);
  }
}
