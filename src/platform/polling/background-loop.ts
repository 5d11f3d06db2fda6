import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';

/** Runs beside the application: begins with it, and has ended before it ends. A provider's is started and stopped by Nest. */
export abstract class BackgroundLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  /** Resolves soon after the signal aborts; never rejects. */
  protected abstract run(signal: AbortSignal): Promise<void>;

  protected get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  start(): void {
    this.running ??= this.run(this.stopping.signal);
  }

  /** Begins nothing more; resolves when what is underway has ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }
}
