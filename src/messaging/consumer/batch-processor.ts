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
import type { CarefulReading } from './protection/careful-reading';
import { condemned } from './protection/condemned';
import type { Guards } from './protection/guards';

export interface BatchLimits {
  /** Most records in one transaction. */
  size: number;
  /** How long a batch that is not full waits for more, ms. */
  lingerMs: number;
  /** Most transactions at once; they come out of the process's database pool. */
  transactions: number;
}

/** How long a partition of a channel that is paused is left alone, ms: it is read again within seconds of the pause's end. */
const PAUSE_MS = 2_000;

/** Collects what waits of a partner's partitions into batches and has them settled; offsets follow the commit. */
export class BatchProcessor {
  private readonly queues = new Map<string, PartnerQueue>();
  private readonly works = new Set<PartitionWork>();
  private readonly unfinished = new UnfinishedLanes();
  private readonly running = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();
  private readonly patience: Patience;
  private readonly inspection: Inspection;
  private timer: NodeJS.Timeout | undefined;
  /** What is read carefully, one after the other, and how many records of its batch were taken before. */
  private readonly careful = new Map<PartitionWork, number>();
  private readonly waitingCarefully: PartitionWork[] = [];
  private isCareful = false;

  constructor(
    private readonly channels: ChannelCatalog,
    private readonly documents: Documents,
    private readonly settler: BatchSettler,
    private readonly limits: BatchLimits,
    logger: Logger,
    private readonly guards: Guards = {},
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
    const channel = this.channels.find(batch.topic) ?? (await this.await(batch, () => this.readChannel(batch.topic)));
    if (!channel) return;
    const entered = await this.enter(batch, channel);
    if (!entered || this.closing.signal.aborted) return;
    const work = new PartitionWork(batch, channel, this.unfinished.returned(batch));
    this.works.add(work);
    if (entered.known !== undefined) this.careful.set(work, entered.known);
    this.enqueue(work);
    this.pump();
    try {
      await work.finished;
    } finally {
      this.works.delete(work);
      this.careful.delete(work);
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
    for (const work of this.waitingCarefully.splice(0)) work.close();
    this.inspection.close();
    await Promise.allSettled([...this.running]);
  }

  /** Marks the partition as read, and says how it is read. Undefined: not now. */
  private async enter(batch: RecordBatch, channel: Channel): Promise<{ known: number | undefined } | undefined> {
    const { careful, gate } = this.guards;
    if (!careful && !gate) return { known: undefined };
    return this.await(batch, async () => {
      const reason = await gate?.closed(channel, batch.records[0]);
      if (reason === undefined) return { known: await careful?.enter(batch, channel) };
      batch.pause(PAUSE_MS, reason);
      throw new Abandoned('paused');
    });
  }

  /** Those of the portions whose channel is read now; the others are given back. */
  private async open(portions: readonly Portion[]): Promise<readonly Portion[]> {
    const { gate } = this.guards;
    if (!gate) return portions;
    const open: Portion[] = [];
    for (const portion of portions) {
      const { work } = portion;
      const reason = await this.patience
        .run([work], () => gate.closed(work.channel, portion.records[0]), true)
        .catch(() => 'given back');
      if (reason === undefined) open.push(portion);
      else if (!work.isGone) work.giveBack(PAUSE_MS, reason);
    }
    return open;
  }

  /** Waits for the database as long as it takes. Undefined: the partition is gone, or given back. */
  private async await<T>(batch: RecordBatch, attempt: () => Promise<T>): Promise<T | undefined> {
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
      return await this.patience.run([membership], attempt, true);
    } catch (error) {
      if (error instanceof Abandoned) return undefined;
      throw error;
    }
  }

  /** A topic that we subscribed to has a channel; where this copy lacks it, the next reading has it. */
  private async readChannel(topic: string): Promise<Channel> {
    await this.channels.load();
    const channel = this.channels.find(topic);
    if (!channel) throw new AppError('channel-unknown', `The topic ${topic} has no channel.`);
    return channel;
  }

  private enqueue(work: PartitionWork): void {
    if (this.careful.has(work)) return void this.waitingCarefully.push(work);
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
    // First: it takes the room of one, and under load none would ever be left.
    this.startCarefully();
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
    this.run(portions, this.settle(portions), () => void queue.running--);
  }

  /** One record of one such partition at a time, or those that were taken before, which end nothing. */
  private startCarefully(): void {
    if (this.isCareful || !this.hasRoom) return;
    const work = this.waitingCarefully.shift();
    if (!work) return;
    this.isCareful = true;
    const known = Math.min(this.careful.get(work) ?? 0, this.limits.size);
    const portion = { work, records: work.take(Math.max(1, known)) };
    const settling = known > 0 ? this.settleKnown(portion) : this.settleSuspect(portion);
    this.run([portion], settling, () => (this.isCareful = false));
  }

  private run(portions: readonly Portion[], settling: Promise<unknown>, onEnd: () => void): void {
    const run = settling.finally(() => {
      onEnd();
      this.running.delete(run);
      for (const { work } of portions) {
        if (work.remaining > 0 && !work.isGone && !this.closing.signal.aborted) this.enqueue(work);
        else work.close();
      }
      this.pump();
    });
    this.running.add(run);
  }

  private async settleKnown(portion: Portion): Promise<void> {
    const { work, records } = portion;
    await this.settleAtOnce([portion]);
    this.careful.set(work, (this.careful.get(work) ?? 0) - records.length);
  }

  /** Never rejects. The record is begun in a transaction of its own, so that its start outlives what it does to the process. */
  private async settleSuspect(portion: Portion): Promise<void> {
    const { work, records } = portion;
    const { offset } = lastOf(records);
    const reading = this.guards.careful as CarefulReading;
    try {
      await reading.alone(async () => {
        if ((await this.open([portion])).length === 0) return;
        const mayBegin = await this.patience.run([work], () => reading.begin(work, offset), true);
        const { contracts } = this.documents;
        const items = mayBegin
          ? undefined
          : [{ work, inspected: await condemned(lastOf(records), work.channel, contracts) }];
        const isSettled = (await this.settleAtOnce([portion], items)) && !work.isIncomplete;
        // Where the database is away, the start stays: it is one of three.
        if (!isSettled) return await reading.putBack(work).catch(() => undefined);
        if (await this.patience.run([work], () => reading.ended(work, offset), true)) this.careful.delete(work);
      });
    } catch {
      // Abandoned: offsets stay, the records come again.
    }
  }

  /**
   * Never rejects. A topic of the partner whose schemas can't be had doesn't hold up its others: each is then on its own. A
   * defect of ours is waited out like an outage: leaving the records would lose their place.
   */
  private async settle(taken: readonly Portion[]): Promise<void> {
    const portions = await this.open(taken);
    if (portions.length > 0) await this.settleOpen(portions);
  }

  private async settleOpen(portions: readonly Portion[]): Promise<void> {
    const topics = [...Map.groupBy(portions, ({ work }) => work.topic).values()];
    const together = topics.length > 1 ? await this.inspection.inspect(portions).catch(() => undefined) : undefined;
    if (topics.length > 1 && !together) await Promise.all(topics.map((ofTopic) => this.settleOpen(ofTopic)));
    else await this.settleAtOnce(portions, together);
  }

  /** Never rejects. True: every record has its outcome, unless it was left out. */
  private async settleAtOnce(portions: readonly Portion[], inspected?: WorkItem[]): Promise<boolean> {
    const works = portions.map(({ work }) => work);
    try {
      const items = inspected ?? (await this.patience.run(works, () => this.inspection.inspect(portions), true));
      await this.patience.run(works, () => this.settler.settle(items, this.patience), true);
      await Promise.all(portions.map(({ work, records }) => work.acknowledge(lastOf(records).offset)));
      return true;
    } catch {
      // Abandoned: offsets stay, the records come again.
      return false;
    }
  }
}

const lastOf = (records: Portion['records']): InboundRecord => records.at(-1) as InboundRecord;
