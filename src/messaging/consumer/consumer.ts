import type { Clock } from '../../platform/clock';
import type { Logger } from '../../platform/telemetry';
import type { ChannelCatalog } from '../channels';
import type { BatchSource, RecordBatch } from '../kafka';
import type { BatchProcessor } from './batch-processor';
import { ChannelWatch } from './channel-watch';
import type { ConsumerHealth } from './consumer-health';
import type { ConsumerCounters } from './counters';

/** Makes the consumer group member; `onBatch` rejects only with the client's own errors. */
export type SourceFactory = (topics: readonly string[], onBatch: (batch: RecordBatch) => Promise<void>) => BatchSource;

/** How often the version of the set of channels is looked at, ms. */
const WATCH_MS = 2_000;

/** The consumer of this process: reads every inbound channel, new ones as they come. */
export class Consumer {
  private readonly watch: ChannelWatch;
  private source: BatchSource | undefined;
  private topicsRead = false;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly processor: BatchProcessor,
    private readonly counters: ConsumerCounters,
    private readonly makeSource: SourceFactory,
    channels: ChannelCatalog,
    private readonly clock: Clock,
    logger: Logger,
  ) {
    this.watch = new ChannelWatch(channels, (topics) => this.consume(topics), logger, WATCH_MS);
  }

  /** Starts in the background, since database and broker may come later. */
  start(): void {
    this.watch.start();
  }

  /** Takes nothing more, lets running transactions end, leaves the group. Idempotent. */
  close(): Promise<void> {
    this.closed ??= this.stop();
    return this.closed;
  }

  health(): ConsumerHealth {
    const { source } = this;
    const { waitingFor, trouble, oldestUnprocessed } = this.processor.signals;
    const age = oldestUnprocessed ? this.clock.now().getTime() - oldestUnprocessed.getTime() : 0;
    return {
      state: source?.state ?? (this.closed ? 'closed' : this.topicsRead ? 'idle' : 'starting'),
      everJoined: source?.everJoined ?? this.topicsRead,
      oldestUnprocessedAgeMs: Math.max(0, age),
      waitingFor,
      trouble: trouble ?? source?.trouble,
      counts: this.counters.byTopic(),
      violations: this.counters.violationsByTopic(),
    };
  }

  private async consume(topics: readonly string[]): Promise<void> {
    this.topicsRead = true;
    if (this.closed || topics.length === 0) return;
    if (this.source) return this.source.restart(topics);
    this.source = this.makeSource(topics, (batch) => this.processor.process(batch));
    this.source.start();
  }

  private async stop(): Promise<void> {
    await this.watch.stop();
    // Side by side: the source waits for batches in hand, and the processor ends those at the next commit.
    await Promise.all([this.source?.close(), this.processor.close()]);
  }
}
