import { AppError } from '../../platform/errors';
import type { Logger } from '../../platform/telemetry';
import type { Channel, ChannelCatalog } from '../channels';
import type { InboundRecord, RecordBatch } from '../kafka';
import type { BatchSettler, WorkItem } from './batch-settler';
import type { ConsumerHealth } from './consumer-health';
import { type Documents, Inspection } from './inspection';
import { PartitionWork } from './partition-work';
import { UnfinishedLanes } from './unfinished-lanes';
import { PartnerQueue, type Portion } from './partner-queue';
import { Abandoned, type Membership, Patience } from './patience';

export interface BatchLimits {
  /** Most records in one transaction. */
  size: number;
  /** How long a batch that is not full waits for more, ms. */
  lingerMs: number;
  /** Most transactions at once; they come out of the process's database pool. */
  transactions: number;
}

/** Collects what waits of a partner's partitions into batches and has them settled; offsets follow the commit. */
export class BatchProcessor {
  private readonly queues = new Map<string, PartnerQueue>();
  private readonly works = new Set<PartitionWork>();
  private readonly unfinished = new UnfinishedLanes();
  private readonly running = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private readonly patience: Patience;
  private readonly inspection: Inspection;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly channels: ChannelCatalog,
    documents: Documents,
    private readonly settler: BatchSettler,
    private readonly limits: BatchLimits,
    logger: Logger,
  ) {
    this.patience = new Patience(logger, this.closing.signal, () => this.pump());
    this.inspection = new Inspection(documents, { hasRoom: () => this.hasRoom, onRoom: () => this.pump() });
  }

  /**
   * Resolves when every record of the batch has a recorded outcome that the batch was told of, or when the partition is no
   * longer ours or was given back. Never rejects for what a record or our infrastructure does.
   */
  async process(batch: RecordBatch): Promise<void> {
    if (batch.records.length === 0 || this.closing.signal.aborted) return;
    const channel = this.channels.find(batch.topic) ?? (await this.awaitChannel(batch));
    if (!channel || this.closing.signal.aborted) return;
    const work = new PartitionWork(batch, channel, this.unfinished.returned(batch));
    this.works.add(work);
    this.enqueue(work);
    this.pump();
    try {
      await work.finished;
    } finally {
      this.works.delete(work);
      this.unfinished.left(work, Date.now());
    }
  }

  /** What is waited for, and since when the oldest record that was fetched has no outcome. */
  get signals(): {
    waitingFor: ConsumerHealth['waitingFor'];
    trouble: string | undefined;
    oldestUnprocessed: Date | undefined;
  } {
    const { current } = this.patience;
    const inHand = [...this.works].map((work) => work.oldestUnsettled ?? Infinity);
    const oldest = Math.min(...inHand, this.unfinished.oldest(Date.now()));
    return {
      waitingFor: current?.what,
      trouble: current?.sentence,
      oldestUnprocessed: Number.isFinite(oldest) ? new Date(oldest) : undefined,
    };
  }

  /** Lets running transactions end, begins none, and commits no offset of what is left. */
  async close(): Promise<void> {
    this.closing.abort();
    clearTimeout(this.timer);
    for (const queue of this.queues.values()) for (const work of queue.drain()) work.close();
    this.inspection.close();
    await Promise.allSettled([...this.running]);
  }

  /** A topic that we subscribed to has a channel; where this copy lacks it, the next reading has it. Undefined: the partition is gone. */
  private async awaitChannel(batch: RecordBatch): Promise<Channel | undefined> {
    const membership: Membership = {
      topic: batch.topic,
      partition: batch.partition,
      get isGone() {
        return batch.isStale();
      },
      heartbeat: () => batch.heartbeat(),
      giveBack: (forMs, reason) => batch.pause(forMs, reason),
    };
    try {
      return await this.patience.run([membership], () => this.readChannel(batch.topic), true);
    } catch (error) {
      if (error instanceof Abandoned) return undefined;
      throw error;
    }
  }

  private async readChannel(topic: string): Promise<Channel> {
    await this.channels.load();
    const channel = this.channels.find(topic);
    if (!channel) throw new AppError('channel-unknown', `The topic ${topic} has no channel.`);
    return channel;
  }

  private enqueue(work: PartitionWork): void {
    const { partner } = work.channel;
    let queue = this.queues.get(partner);
    if (!queue) this.queues.set(partner, (queue = new PartnerQueue()));
    queue.add(work);
  }

  /** Starts every batch that is due while there is room, partners in turn; sets the clock for the next one. */
  private pump(): void {
    clearTimeout(this.timer);
    if (this.closing.signal.aborted) return this.inspection.close();
    this.inspection.letBack();
    let next = Infinity;
    for (const [partner, queue] of [...this.queues]) {
      let due = this.dueIn(queue);
      for (; due <= 0 && this.hasRoom; due = this.dueIn(queue)) {
        this.queues.delete(partner);
        this.queues.set(partner, queue);
        this.start(queue);
      }
      if (due > 0) next = Math.min(next, due);
    }
    if (Number.isFinite(next)) this.timer = setTimeout(() => this.pump(), next);
  }

  private dueIn(queue: PartnerQueue): number {
    return queue.dueIn(this.limits.size, this.limits.lingerMs, Date.now());
  }

  /** A batch that waits for our infrastructure or a look-up holds no transaction: others may go on meanwhile. */
  private get hasRoom(): boolean {
    return this.running.size - this.patience.count - this.inspection.aside < this.limits.transactions;
  }

  private start(queue: PartnerQueue): void {
    const portions = queue.take(this.limits.size);
    queue.running++;
    const run = this.settle(portions).finally(() => {
      queue.running--;
      this.running.delete(run);
      for (const { work } of portions) {
        if (work.remaining > 0 && !work.isGone && !this.closing.signal.aborted) this.enqueue(work);
        else work.close();
      }
      this.pump();
    });
    this.running.add(run);
  }

  /**
   * Never rejects. A topic of the partner whose schemas can't be had doesn't hold up its others: each is then on its own. A
   * defect of ours is waited out like an outage: leaving the records would lose their place.
   */
  private async settle(portions: readonly Portion[]): Promise<void> {
    const topics = [...Map.groupBy(portions, ({ work }) => work.topic).values()];
    const together = topics.length > 1 ? await this.inspection.inspect(portions).catch(() => undefined) : undefined;
    if (topics.length > 1 && !together) await Promise.all(topics.map((ofTopic) => this.settle(ofTopic)));
    else await this.settleAtOnce(portions, together);
  }

  private async settleAtOnce(portions: readonly Portion[], inspected: WorkItem[] | undefined): Promise<void> {
    const works = portions.map(({ work }) => work);
    try {
      const items = inspected ?? (await this.patience.run(works, () => this.inspection.inspect(portions), true));
      await this.patience.run(works, () => this.settler.settle(items, this.patience), true);
      await Promise.all(portions.map(({ work, records }) => work.acknowledge(lastOf(records).offset)));
    } catch {
      // Abandoned: offsets stay, the records come again.
    }
  }
}

const lastOf = (records: Portion['records']): InboundRecord => records.at(-1) as InboundRecord;
