import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../platform/errors';
import type { Logger } from '../../../platform/telemetry';
import type { InboundMessage } from '../handler';

/** Beats that may be missed. */
const LIMIT = 10;
const TEXT_BYTES = 1_024;

/**
 * Ends the process (SIGKILL, one line on stderr) when its event loop has stood still for so long: a handler that spins or blocks.
 * The record is then found like others that end processes. A stopped or suspended process is not ended for that.
 */
export class Watchdog {
  private readonly shared = new SharedArrayBuffer(8 + TEXT_BYTES);
  private readonly state = new Int32Array(this.shared, 0, 2);
  private readonly text = Buffer.from(this.shared, 8);
  private readonly everyMs: number;
  private worker: Worker | undefined;
  private beat: NodeJS.Timeout | undefined;
  private fault: string | undefined;

  constructor(
    blockedMs: number,
    private readonly logger: Logger,
  ) {
    this.everyMs = blockedMs / LIMIT;
  }

  start(): void {
    if (this.worker) return;
    this.beat = setInterval(() => Atomics.add(this.state, 0, 1), this.everyMs / 2).unref();
    // A module by its name, built or not: Node warns of one that it has to recognize.
    const file = join(__dirname, `watchdog-thread${extname(__filename).replace('.', '.m')}`);
    const workerData = { shared: this.shared, everyMs: this.everyMs, limit: LIMIT };
    this.worker = new Worker(file, { workerData, name: 'watchdog', execArgv: [] });
    this.worker.unref();
    this.worker.once('error', (error) => {
      this.fault = `the watchdog has failed, so a handler that blocks would not be noticed: restart the process (${messageOf(error, 200)})`;
      this.logger.error({ code: 'watchdog-failed', reason: messageOf(error) }, 'the watchdog has failed');
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.beat);
    await this.worker?.terminate();
  }

  get trouble(): string | undefined {
    return this.fault;
  }

  /** What a handler is about to get: named if it blocks. */
  note(messages: readonly InboundMessage<unknown>[]): void {
    const [first] = messages;
    if (!first) return;
    const more = messages.length > 1 ? ` and ${messages.length - 1} more` : '';
    Atomics.store(this.state, 1, this.text.write(`${first.topic}/${first.partition}/${first.offset}${more}`));
  }
}
