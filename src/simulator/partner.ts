import { setTimeout as delay } from 'node:timers/promises';
import { Consumer, type Message, type MessagesStream } from '@platformatic/kafka';
import { orderRequest, topicFor } from '../contracts';
import { JsonCodec } from '../messaging/registry';
import { AnswerSender, type Outgoing } from './answer-sender';
import { answersTo } from './answers';
import { behaviourOf } from './behaviour';
import { type Connection, connectionOf } from './connection';
import { Journal, type JournalLine } from './journal';
import { OffsetTracker } from './offset-tracker';
import type { SimulatorOptions } from './options';
import { readRequest } from './request';

const MOST_IN_ONE_BATCH = 1000;
/** Requests whose answers are not written yet; above it reading waits. */
const MOST_PENDING = 50_000;
const COMMIT_EVERY_MS = 100;
/** Message ids that are remembered to tell a repeat, for the statistics alone: every request is answered. */
const MOST_REMEMBERED = 1_000_000;

export interface Statistics {
  seen: number;
  repeated: number;
  unreadable: number;
  answered: number;
}

/** The partner itself. It may be killed at any time: it reads again what it had not answered, and answers the same. */
export class Partner {
  readonly statistics: Statistics = { seen: 0, repeated: 0, unreadable: 0, answered: 0 };
  private readonly codec = new JsonCodec();
  private readonly connection: Connection;
  private readonly journal: Journal;
  private readonly sender: AnswerSender;
  private readonly partnerOf: Map<string, string>;
  private readonly remembered = new Set<string>();
  private consumer: Consumer | undefined;
  private stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | undefined;
  private running: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly options: SimulatorOptions,
    private readonly log: (line: string) => void,
    private readonly onReady: () => void = () => undefined,
  ) {
    this.connection = connectionOf(options);
    this.journal = new Journal(options.journal);
    this.sender = new AnswerSender(this.connection, (written) => this.written(written), log);
    this.partnerOf = new Map(options.partners.map((partner) => [topicFor(orderRequest, partner), partner]));
  }

  /** Starts; a lost broker or a topic that is not there yet is waited for. Resolves when {@link stop} has been called. */
  run(): Promise<void> {
    this.running ??= this.runSessions().finally(() => this.journal.close());
    return this.running;
  }

  /** Stops reading, writes the answers that are due, commits, leaves the group. */
  async stop(): Promise<void> {
    this.stopping = true;
    // Without a stream the membership is still being made: then there is nothing to commit.
    await (this.stream ?? this.consumer)?.close().catch(() => undefined);
    await this.running;
  }

  private async runSessions(): Promise<void> {
    for (let failures = 0; !this.stopping;) {
      try {
        await this.session(() => (failures = 0));
      } catch (error) {
        if (this.stopping) break;
        failures++;
        this.log(`no requests for now (${(error as Error).message}), trying again`);
        await delay(Math.min(200 * failures, 2000));
      }
    }
    await this.sender.close();
  }

  /** One membership in the group, until something breaks or the partner stops. */
  private async session(joined: () => void): Promise<void> {
    const consumer = this.makeConsumer();
    const tracker = new OffsetTracker();
    const committing = setInterval(() => void this.commit(consumer, tracker), COMMIT_EVERY_MS);
    try {
      this.stream = await consumer.consume({
        topics: [...this.partnerOf.keys()],
        mode: 'committed',
        fallbackMode: 'earliest',
        autocommit: false,
        maxWaitTime: 500,
      });
      joined();
      this.onReady();
      await this.read(this.stream, tracker);
    } finally {
      clearInterval(committing);
      this.stream = undefined;
      if (this.stopping) await this.sender.close();
      await this.commit(consumer, tracker);
      await consumer.close(true).catch(() => undefined);
    }
  }

  private makeConsumer(): Consumer {
    const consumer = new Consumer({
      ...this.connection,
      groupId: this.options.group,
      sessionTimeout: 6000,
      heartbeatInterval: 1000,
      retries: 1,
    });
    consumer.on('error', () => undefined);
    this.consumer = consumer;
    return consumer;
  }

  private async read(stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>, tracker: OffsetTracker): Promise<void> {
    for await (const first of stream) {
      const batch = [first];
      for (let next: unknown; batch.length < MOST_IN_ONE_BATCH && (next = stream.read()) !== null;) {
        batch.push(next as typeof first);
      }
      await this.answer(batch, tracker);
      while (tracker.pending > MOST_PENDING && !this.stopping) await delay(20);
    }
  }

  private async answer(batch: readonly Message[], tracker: OffsetTracker): Promise<void> {
    const at = new Date().toISOString();
    const lines: JournalLine[] = [];
    const outgoing: Outgoing[] = [];
    for (const message of batch) {
      const request = await readRequest(message, this.partnerOf.get(message.topic) ?? '', this.codec);
      if ('why' in request) {
        this.statistics.unreadable++;
        tracker.take(message, 0);
        const { topic, partition, offset } = message;
        lines.push({ kind: 'unreadable', at, topic, partition, offset: String(offset), why: request.why });
        continue;
      }
      const order = request.document.orderNumber;
      const behaviour = behaviourOf(order, this.options.mix);
      const answers = await answersTo(request, behaviour, this.options, this.codec);
      const ticket = tracker.take(message, answers.length);
      const written = () => tracker.answered(ticket);
      outgoing.push(...answers.map((answer) => ({ answer, order, requestId: request.id, written })));
      const { id, partner, correlationId } = request;
      const repeated = this.remember(id);
      const place = { partition: message.partition, offset: String(message.offset) };
      lines.push({ kind: 'seen', at, partner, order, id, correlationId, ...place, repeated, behaviour });
    }
    this.journal.write(lines);
    this.sender.add(outgoing);
  }

  /** Was this message id seen before? */
  private remember(id: string): boolean {
    this.statistics.seen++;
    if (this.remembered.has(id)) {
      this.statistics.repeated++;
      return true;
    }
    this.remembered.add(id);
    if (this.remembered.size > MOST_REMEMBERED) {
      const [oldest] = this.remembered;
      if (oldest !== undefined) this.remembered.delete(oldest);
    }
    return false;
  }

  private written(written: readonly Outgoing[]): void {
    const at = new Date().toISOString();
    this.statistics.answered += written.length;
    this.journal.write(
      written.map(({ answer, order, requestId }) => ({
        kind: 'answered',
        at,
        order,
        requestId,
        id: answer.id,
        code: answer.code,
      })),
    );
    for (const { written: tell } of written) tell();
  }

  /** A failed commit is nothing lost: the next one covers it, or the requests are read again. */
  private async commit(consumer: Consumer, tracker: OffsetTracker): Promise<void> {
    const offsets = tracker.committable();
    if (offsets.length === 0) return;
    await consumer.commit({ offsets }).catch((error: unknown) => this.log(`offsets not committed (${String(error)})`));
  }
}
