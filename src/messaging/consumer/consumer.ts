import type { Clock } from '../../platform/clock';
import type { Logger } from '../../platform/telemetry';
import type { ChannelCatalog } from '../channels';
import type { BatchSource, RecordBatch } from '../kafka';
import type { BatchProcessor } from './batch-processor';
import { ChannelWatch } from './channel-watch';
import type { ConsumerHealth } from './consumer-health';
import type { ConsumerCounters } from './counters';
import type { Protection } from './protection/create-protection';

/** Makes the consumer group member; `onBatch` rejects only with the client's own errors. */
export type SourceFactory = (topics: readonly string[], onBatch: (batch: RecordBatch) => Promise<void>) => BatchSource;

/** What a consumer process does beside reading: begun before the source, and ended before it is closed. */
export interface Companion {
  start(): void;
  /** Begins nothing more; resolves when what is underway has ended. */
  stop(): Promise<void>;
  /** One sentence, while something is wrong. */
  readonly trouble: string | undefined;
}

export interface ConsumerParts {
  processor: BatchProcessor;
  counters: ConsumerCounters;
  companions: readonly Companion[];
  protection?: Protection | undefined;
}

/** How often the version of the set of channels is looked at, ms. */
const WATCH_MS = 2_000;

/** The consumer of this process: reads every inbound channel, new ones as they come. */
export class Consumer {
  private readonly watch: ChannelWatch;
  private source: BatchSource | undefined;
  private topicsRead = false;
  private closed: Promise<void> | undefined;

  constructor(
    private readonly parts: ConsumerParts,
    private readonly makeSource: SourceFactory,
    channels: ChannelCatalog,
    private readonly clock: Clock,
    logger: Logger,
  ) {
    this.watch = new ChannelWatch(channels, (topics) => this.consume(topics), logger, WATCH_MS);
  }

  /** Starts in the background, since database and broker may come later. */
  start(): void {
    for (const companion of this.parts.companions) companion.start();
    this.watch.start();
  }

  /** Takes nothing more, lets running transactions end, leaves the group. Idempotent. */
  close(): Promise<void> {
    this.closed ??= this.stop();
    return this.closed;
  }

  health(): ConsumerHealth {
    const { source } = this;
    const { processor, counters, companions, protection } = this.parts;
    const { waitingFor, trouble, oldestUnprocessed } = processor.signals;
    const age = oldestUnprocessed ? this.clock.now().getTime() - oldestUnprocessed.getTime() : 0;
    return {
      state: source?.state ?? (this.closed ? 'closed' : this.topicsRead ? 'idle' : 'starting'),
      everJoined: source?.everJoined ?? this.topicsRead,
      oldestUnprocessedAgeMs: Math.max(0, age),
      waitingFor,
      trouble: trouble ?? source?.trouble ?? companions.find((companion) => companion.trouble)?.trouble,
      counts: counters.byTopic(),
      violations: counters.violationsByTopic(),
      pausedTopics: protection?.gate.pausedTopics ?? [],
      unreadKeptUntil: protection?.gate.unreadKeptUntil ?? [],
      unpublishedDeadLetters: protection?.deadLetters.unpublishedCount ?? 0,
    };
  }

  private async consume(topics: readonly string[]): Promise<void> {
    this.topicsRead = true;
    if (this.closed || topics.length === 0) return;
    if (this.source) return this.source.restart(topics);
    this.source = this.makeSource(topics, (batch) => this.parts.processor.process(batch));
    this.source.start();
  }

  private async stop(): Promise<void> {
    await this.watch.stop();
    await Promise.all(this.parts.companions.map((companion) => companion.stop()));
    // Side by side: the source waits for batches in hand, and the processor ends those at the next commit.
    await Promise.all([this.source?.close(), this.parts.processor.close()]);
    await this.parts.protection?.leave();
  }
}
