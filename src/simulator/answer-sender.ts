import { setTimeout as delay } from 'node:timers/promises';
import { brokerWords } from './broker-error';
import { type Connection, makeProducer, type RecordProducer } from './connection';
import type { Message } from './message';

/** A message on its way. */
export interface Outgoing {
  message: Message;
  partner: string;
  order: string;
  requestId: string;
  /** Is it still to be written? Asked when its turn has come; what was tried is written in the end. */
  isDue: () => boolean;
  /** It is written, or no longer due. */
  done: () => void;
}

/** Who follows what becomes of messages. */
export interface SenderEvents {
  /** These are written next; returns before they are. */
  onSending: (due: readonly Outgoing[]) => void;
  onWritten: (written: readonly Outgoing[]) => void;
  onWithdrawn: (withdrawn: readonly Outgoing[]) => void;
}

const MOST_IN_ONE_SEND = 1000;

/**
 * Writes messages at their time, one send at a time, so that those of an order keep their order. What could not be
 * written is written again until it is; a repeat carries the same message id.
 */
export class AnswerSender {
  private readonly queue: Outgoing[] = [];
  private readonly timers = new Set<NodeJS.Timeout>();
  /** Of a send that failed nobody knows what was written. */
  private readonly tried = new Set<Outgoing>();
  private producer: RecordProducer | undefined;
  private draining: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly connection: Connection,
    private readonly events: SenderEvents,
    private readonly log: (line: string) => void,
  ) {}

  add(outgoing: readonly Outgoing[]): void {
    for (const [afterMs, items] of Map.groupBy(outgoing, ({ message }) => message.afterMs)) {
      if (afterMs === 0) this.queue.push(...items);
      else this.schedule(afterMs, items);
    }
    this.drain();
  }

  /** Forgets messages whose time has not come: their offsets are not committed, so they are asked for again. */
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
        const { due = [], withdrawn = [] } = this.sorted(batch);
        due.forEach((item) => this.tried.add(item));
        this.events.onSending(due);
        if (due.length > 0) await this.send(due);
        this.queue.splice(0, batch.length);
        this.tried.clear();
        this.events.onWritten(due);
        this.events.onWithdrawn(withdrawn);
        failures = 0;
      } catch (error) {
        failures++;
        this.log(`messages not written (${brokerWords(error)}), trying again`);
        await this.dropProducer();
        await delay(Math.min(200 * failures, 2000));
      }
    }
  }

  private sorted(batch: readonly Outgoing[]): Partial<Record<'due' | 'withdrawn', Outgoing[]>> {
    return Object.groupBy(batch, (item) => (this.tried.has(item) || item.isDue() ? 'due' : 'withdrawn'));
  }

  private async send(batch: readonly Outgoing[]): Promise<void> {
    this.producer ??= makeProducer(this.connection);
    await this.producer.send({
      acks: -1,
      messages: batch.map(({ message: { topic, key, value, headers } }) => ({
        ...{ topic, value, headers },
        ...(key === null ? {} : { key }),
      })),
    });
  }

  private async dropProducer(): Promise<void> {
    const { producer } = this;
    this.producer = undefined;
    await producer?.close().catch(() => undefined);
  }
}
