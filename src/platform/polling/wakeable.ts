/** A pause that ends early when somebody calls. A call while nobody waits ends the next pause at once. */
export class Wakeable {
  private called = false;
  private release: (() => void) | undefined;

  wake(): void {
    this.called = true;
    this.release?.();
  }

  /** Resolves after `ms` or on a call; true when it was a call. */
  async wait(ms: number): Promise<boolean> {
    if (!this.called) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.release = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.release = undefined;
    }
    const called = this.called;
    this.called = false;
    return called;
  }
}
