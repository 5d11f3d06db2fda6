import type { KafkaConfig } from 'kafkajs';
import { messageOf } from '../../platform/errors';
import type { Logger } from '../../platform/telemetry';
import { BatchDelivery } from './batch-delivery';
import type { Membership } from './fetched-batch';
import { type Consumer, type EachBatchPayload, Kafka } from './kafkajs';
import { type CommitEntry, OffsetCommitter } from './offset-committer';
import { PartitionPauses } from './partition-pauses';
import { laneKey } from './topic-partition';
import type { BatchSourceOptions, SourceTiming } from './types';

/** Batches handled at once, over all partitions; the consumer bounds its transactions itself. */
const CONCURRENT_PARTITIONS = 32;

/** Joins of all members of this process: a new member is another generation, too. */
let joins = 0;

/** One life of one kafkajs consumer: it joins once, and ends by leaving or by a crash. kafkajs' own restart is off: ours counts and reports. */
export class GroupMember {
  readonly pauses = new PartitionPauses();
  /** Undefined when it left, else what it died of. */
  readonly ended: Promise<Error | undefined>;
  lastActivity: Date | undefined;
  joined = false;
  private readonly consumer: Consumer;
  private readonly committer: OffsetCommitter;
  private readonly delivery: BatchDelivery;
  private end: (error?: Error) => void = () => undefined;
  private generation = 0;
  private assigned = new Set<string>();
  private lastPayload: EachBatchPayload | undefined;
  private running: Promise<void> | undefined;
  private leaving: Promise<void> | undefined;

  constructor(
    config: KafkaConfig,
    private readonly topics: readonly string[],
    options: Omit<BatchSourceOptions, 'topics'>,
    timing: SourceTiming,
    private readonly logger: Logger,
  ) {
    this.ended = new Promise((resolve) => (this.end = resolve));
    this.consumer = new Kafka(config).consumer({
      groupId: options.groupId,
      sessionTimeout: timing.sessionTimeout,
      rebalanceTimeout: timing.rebalanceTimeout,
      heartbeatInterval: timing.heartbeat,
      maxWaitTimeInMs: timing.maxWait,
      minBytes: 1,
      allowAutoTopicCreation: false,
      retry: { retries: 3, initialRetryTime: 200, maxRetryTime: 2_000, restartOnFailure: () => Promise.resolve(false) },
    });
    this.delivery = new BatchDelivery(options.onBatch, this.pauses, logger);
    this.committer = new OffsetCommitter(
      (entries) => this.commit(entries),
      timing.commitInterval,
      (error) => logger.debug({ reason: messageOf(error) }, 'offset commit failed; it is repeated'),
    );
    this.observe();
  }

  /** Resolves when it has joined or ended; rejects when no broker takes it in. */
  run(): Promise<void> {
    this.running ??= this.begin();
    return this.running;
  }

  /** Finishes the batches in hand, commits, and leaves. */
  leave(): Promise<void> {
    this.leaving ??= this.depart();
    return this.leaving;
  }

  private async begin(): Promise<void> {
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [...this.topics], fromBeginning: true });
    if (this.leaving) return;
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_PARTITIONS,
      eachBatch: (payload) => this.deliver(payload),
    });
  }

  private async depart(): Promise<void> {
    await this.committer.flush();
    // Disconnecting before the first join has ended would not stop it: it would join afterwards, a member nobody serves.
    await this.running?.catch(() => undefined);
    try {
      await this.consumer.disconnect();
    } finally {
      this.pauses.clear();
      this.committer.clear();
      this.end();
    }
  }

  private observe(): void {
    const { events } = this.consumer;
    const alive = () => (this.lastActivity = new Date());
    this.consumer.on(events.FETCH, alive);
    this.consumer.on(events.HEARTBEAT, alive);
    this.consumer.on(events.END_BATCH_PROCESS, ({ payload: { topic, partition, batchSize, lastOffset } }) => {
      alive();
      // Control records and aborted transactions alone: kafkajs steps over them, and says nothing to us that would commit it.
      if (batchSize === 0 && this.assigned.has(laneKey({ topic, partition })))
        this.committer.add({ topic, partition, next: BigInt(lastOffset) + 1n });
    });
    this.consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.generation = ++joins;
      this.committer.clear();
      const lanes = Object.entries(payload.memberAssignment);
      this.assigned = new Set(lanes.flatMap(([topic, list]) => list.map((partition) => laneKey({ topic, partition }))));
      this.joined = true;
      alive();
      this.logger.info({ partitions: this.assigned.size, generation: this.generation }, 'joined the consumer group');
    });
    // Before the rejoin, which ends the generation under which these offsets may be committed.
    this.consumer.on(events.REBALANCING, () => void this.committer.flush());
    this.consumer.on(events.CRASH, ({ payload }) => {
      this.pauses.clear();
      this.committer.clear();
      this.end(payload.error);
    });
  }

  private async deliver(payload: EachBatchPayload): Promise<void> {
    this.lastPayload = payload;
    const membership = this.membership(payload);
    if (this.leaving || !membership.isCurrent()) return;
    const lost = await this.delivery.deliver(payload, membership);
    // While the place in the group is still ours: leaving or rejoining ends the generation that may commit.
    if (this.leaving || lost) await this.committer.flush();
    if (lost) throw lost;
  }

  private membership(payload: EachBatchPayload): Membership {
    const { topic, partition } = payload.batch;
    const generation = this.generation;
    return {
      generation,
      isCurrent: () => this.generation === generation && this.assigned.has(laneKey({ topic, partition })),
      isClosing: () => this.leaving !== undefined,
      commit: (next) => this.committer.add({ topic, partition, next }),
      pause: (ms, reason) => this.pauses.start({ topic, partition }, ms, reason, () => payload.pause()),
    };
  }

  /** Through the batch's own payload: the consumer's method does nothing once it is stopping, when the last commits are due. */
  private async commit(entries: readonly CommitEntry[]): Promise<void> {
    const topics = new Map<string, { partition: number; offset: string }[]>();
    for (const { topic, partition, next } of entries) {
      if (!this.assigned.has(laneKey({ topic, partition }))) continue;
      const list = topics.get(topic) ?? [];
      topics.set(topic, list);
      list.push({ partition, offset: String(next) });
    }
    if (topics.size === 0) return;
    const offsets = { topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })) };
    if (this.lastPayload) return this.lastPayload.commitOffsetsIfNecessary(offsets);
    await this.consumer.commitOffsets(
      offsets.topics.flatMap(({ topic, partitions }) => partitions.map((partition) => ({ topic, ...partition }))),
    );
  }
}
