import { setTimeout as delay } from 'node:timers/promises';
import { compatibilityPartitioner, Producer } from '@platformatic/kafka';
import type { Answer } from './answers';
import type { Connection } from './connection';

/** An answer on its way, and whom to tell when it is written. */
export interface Outgoing {
  answer: Answer;
  order: string;
  requestId: string;
  written: () => void;
}

const MOST_IN_ONE_SEND = 1000;

/** Text or bytes, as they come. */
const toBytes = (value?: string | Buffer): Buffer | undefined =>
  typeof value === 'string' ? Buffer.from(value) : value;
const SERIALIZERS = { key: toBytes, value: toBytes, headerKey: toBytes, headerValue: toBytes };

/**
 * Writes answers at their time, one send at a time, so that the answers of an order keep their order. What could not be
 * written is written again until it is; a repeat carries the same message id.
 */
export class AnswerSender {
  private readonly queue: Outgoing[] = [];
  private readonly timers = new Set<NodeJS.Timeout>();
  private producer: Producer<string | Buffer, string | Buffer, string | Buffer, string | Buffer> | undefined;
  private draining: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly connection: Connection,
    private readonly onWritten: (written: readonly Outgoing[]) => void,
    private readonly log: (line: string) => void,
  ) {}

  add(outgoing: readonly Outgoing[]): void {
    for (const [afterMs, items] of Map.groupBy(outgoing, ({ answer }) => answer.afterMs)) {
      if (afterMs === 0) this.queue.push(...items);
      else this.schedule(afterMs, items);
    }
    this.drain();
  }

  /** Forgets answers whose time has not come: their offsets are not committed, so they are asked for again. */
  async close(): Promise<void> {
    this.closed = true;
    this.timers.forEach((timer) => clearTimeout(timer));
    await this.draining;
    await this.dropProducer();
  }

  private schedule(afterMs: number, items: Outgoing[]): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.queue.push(...items);
      this.drain();
    }, afterMs);
    this.timers.add(timer);
  }

  private drain(): void {
    this.draining ??= this.sendAll().finally(() => (this.draining = undefined));
  }

  private async sendAll(): Promise<void> {
    for (let failures = 0; this.queue.length > 0 && !(this.closed && failures > 0);) {
      const batch = this.queue.slice(0, MOST_IN_ONE_SEND);
      try {
        await this.send(batch);
        this.queue.splice(0, batch.length);
        this.onWritten(batch);
        failures = 0;
      } catch (error) {
        failures++;
        this.log(`answers not written (${(error as Error).message}), trying again`);
        await this.dropProducer();
        await delay(Math.min(200 * failures, 2000));
      }
    }
  }

  private async send(batch: readonly Outgoing[]): Promise<void> {
    this.producer ??= this.makeProducer();
    await this.producer.send({
      acks: -1,
      messages: batch.map(({ answer }) => ({
        topic: answer.topic,
        ...(answer.key === null ? {} : { key: answer.key }),
        value: answer.value,
        headers: answer.headers,
      })),
    });
  }

  private makeProducer(): NonNullable<AnswerSender['producer']> {
    const producer = new Producer<string | Buffer, string | Buffer, string | Buffer, string | Buffer>({
      ...this.connection,
      serializers: SERIALIZERS,
      // Java's rule for keys; the library's own default differs from it.
      partitioner: compatibilityPartitioner,
      retries: 0,
    });
    producer.on('error', () => undefined);
    return producer;
  }

  private async dropProducer(): Promise<void> {
    const { producer } = this;
    this.producer = undefined;
    await producer?.close().catch(() => undefined);
  }
}
