/** Suspects of one process are in hand one after another: when it ends, that one has ended it. */
export class OneAtATime {
  private last: Promise<unknown> = Promise.resolve();

  /** Resolves when it is the caller's turn, with what ends the turn. */
  async take(): Promise<() => void> {
    const before = this.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.last = promise;
    await before;
    return resolve;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const end = await this.take();
    try {
      return await work();
    } finally {
      end();
    }
  }
}
