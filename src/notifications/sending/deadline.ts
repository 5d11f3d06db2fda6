/**
 * The end of a lease as this process sees it, by two clocks of its own. The one that never jumps stands still while some machines sleep, and the
 * other one may be set: whichever says first that it is over is believed. Both count from before the lease was looked at, so they are early.
 */
export class Deadline {
  private readonly from = { monotonic: performance.now(), wall: Date.now() };
  private readonly aborter = new AbortController();
  private leftMs = 0;
  private timer: NodeJS.Timeout | undefined;

  /** Aborts with the lease. */
  readonly signal = this.aborter.signal;

  /** @param leftMs of the lease, by the database, at some time since this was made */
  set(leftMs: number): void {
    this.leftMs = leftMs;
    this.timer = setTimeout(() => this.aborter.abort(new Error('the lease is over')), Math.max(0, this.remaining()));
  }

  isOver(): boolean {
    return this.signal.aborted || this.remaining() <= 0;
  }

  /** Resolves a moment after the signal: whoever heeds it has answered by then. */
  passed(graceMs = 500): Promise<void> {
    return new Promise((resolve) => {
      this.signal.addEventListener('abort', () => {
        this.timer = setTimeout(resolve, graceMs);
      });
    });
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private remaining(): number {
    const { monotonic, wall } = this.from;
    return this.leftMs - Math.max(performance.now() - monotonic, Date.now() - wall);
  }
}
