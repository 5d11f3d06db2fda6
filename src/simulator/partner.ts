import { setTimeout as delay } from 'node:timers/promises';
import { Consumer, type MessagesStream } from '@platformatic/kafka';
import { createCodec, createSchemaRegistry, type SchemaRegistry } from '../messaging/registry';
import { AnswerSender, type Outgoing, type SenderEvents } from './answer-sender';
import { brokerWords } from './broker-error';
import { type Connection, connectionOf } from './connection';
import { Desk } from './desk';
import { Journal } from './journal';
import type { JournalLine } from './journal-line';
import { OffsetTracker } from './offset-tracker';
import type { SimulatorOptions } from './options';
import { OrderBook } from './order-book';

const MOST_IN_ONE_BATCH = 1000;
/** Requests whose answers are not written yet; above it reading waits. */
const MOST_PENDING = 50_000;
const COMMIT_EVERY_MS = 100;

export type Statistics = Desk['statistics'] & {
  /** Messages written. */
  answered: number;
};

/** The partner itself. It may be killed at any time: it reads again what it had not answered, and answers the same. */
export class Partner implements SenderEvents {
  private answered = 0;
  private readonly connection: Connection;
  private readonly journal: Journal;
  private readonly sender: AnswerSender;
  private readonly book = new OrderBook();
  private readonly registry: SchemaRegistry | undefined;
  private readonly desk: Desk;
  private consumer: Consumer | undefined;
  private stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | undefined;
  private running: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly options: SimulatorOptions,
    private readonly log: (line: string) => void,
    private readonly onReady: () => void = () => undefined,
  ) {
    this.connection = connectionOf(options, `simulator-${options.parties[0]?.id}`);
    this.journal = new Journal(options.journal);
    this.sender = new AnswerSender(this.connection, this, log);
    // Looked up only, like a partner does: the company publishes them.
    this.registry = options.registry && createSchemaRegistry(options.registry);
    this.desk = new Desk(options, createCodec(this.registry), this.book);
  }

  get statistics(): Statistics {
    return { ...this.desk.statistics, answered: this.answered };
  }

  /** Starts; what is not there yet (broker, topic, registry, schema) is waited for. Resolves when {@link stop} has been called. */
  run(): Promise<void> {
    this.running ??= this.runSessions().finally(async () => {
      this.journal.close();
      await this.registry?.close();
    });
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
    await this.journal.recall((line) => this.book.recall(line));
    for (let failures = 0; !this.stopping;) {
      try {
        await this.desk.ready();
        // Stopped while a registry was waited for: whoever stops has found nothing to close, and nobody would end what begins now.
        if (!this.stopping) await this.session(() => (failures = 0));
      } catch (error) {
        if (this.stopping) break;
        failures++;
        this.log(`no requests for now (${brokerWords(error)}), trying again`);
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
      this.stream = await streamOf(consumer, this.desk.topics);
      if (this.stopping) return;
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
      const { lines, outgoing } = await this.desk.take(batch, tracker);
      // Written down before it is answered: a killed partner leaves no gap in its journal.
      this.journal.write(lines);
      this.sender.add(outgoing);
      while (tracker.pending > MOST_PENDING && !this.stopping) await delay(20);
    }
  }

  /** What leaves is written down first: a killed partner must not forget that goods are on their way. */
  onSending(due: readonly Outgoing[]): void {
    const at = new Date().toISOString();
    const lines: JournalLine[] = [];
    for (const { message, partner, order } of due) {
      const { despatchNumber, id } = message;
      if (despatchNumber === undefined) continue;
      this.book.despatching(partner, order);
      lines.push({ kind: 'despatching', at, partner, order, despatchNumber, id });
    }
    this.journal.write(lines);
  }

  onWritten(written: readonly Outgoing[]): void {
    this.answered += written.length;
    this.close('answered', written);
  }

  onWithdrawn(withdrawn: readonly Outgoing[]): void {
    this.close('withdrawn', withdrawn);
  }

  private close(kind: 'answered' | 'withdrawn', items: readonly Outgoing[]): void {
    const at = new Date().toISOString();
    this.journal.write(
      items.map(({ message: { id, code }, partner, order, requestId }) => ({
        ...{ kind, at, partner, order, requestId, id, code },
      })),
    );
    for (const { done } of items) done();
  }

  /** A failed commit is nothing lost: the next one covers it, or the requests are read again. */
  private async commit(consumer: Consumer, tracker: OffsetTracker): Promise<void> {
    const offsets = tracker.committable();
    if (offsets.length === 0) return;
    await consumer.commit({ offsets }).catch((error: unknown) => this.log(`offsets not committed (${String(error)})`));
  }
}

/**
 * Listened to from its first moment: of a consumer that is closed while it joins it fails in the same tick, before whoever waits for it goes on,
 * and an error that nobody hears ends the process. Who reads it meets its end all the same.
 */
function streamOf(consumer: Consumer, topics: string[]): Promise<MessagesStream<Buffer, Buffer, Buffer, Buffer>> {
  return new Promise((resolve, reject) => {
    consumer.consume(
      { topics, mode: 'committed', fallbackMode: 'earliest', autocommit: false, maxWaitTime: 500 },
      (error, stream) => {
        if (!stream) return reject(error ?? new Error('nothing is to be read'));
        stream.on('error', () => undefined);
        resolve(stream);
      },
    );
  });
}
