import { setTimeout as delay } from 'node:timers/promises';
import { brokerWords } from '../broker-error';
import { type Connection, makeProducer, type RecordProducer } from '../connection';

/** A record as it is written. */
export interface Written {
  topic: string;
  /** Absent: the key decides, as in Java. */
  partition?: number;
  key: string | null;
  value: Buffer;
  headers: Record<string, string>;
}

/** Writes records, one call after the other, so that those of a key keep their order. */
export class RecordWriter {
  private producer: RecordProducer | undefined;
  private last: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly connection: Connection,
    private readonly log: (line: string) => void,
    /** How long a broker that is away is waited for, ms. */
    private readonly patienceMs = 60_000,
  ) {}

  /** Resolves when they are written; what could not be is written again, so a record can come twice. Rejects when that takes too long. */
  write(records: readonly Written[]): Promise<void> {
    const writing = this.last.then(() => this.sendAll(records));
    this.last = writing.catch(() => undefined);
    return writing;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.last;
    await this.drop();
  }

  private async sendAll(records: readonly Written[]): Promise<void> {
    const until = Date.now() + this.patienceMs;
    for (let failures = 1; ; failures++) {
      try {
        this.producer ??= makeProducer(this.connection);
        await this.producer.send({
          acks: -1,
          messages: records.map(({ topic, partition, key, value, headers }) => ({
            ...{ topic, value, headers },
            ...(partition === undefined ? {} : { partition }),
            ...(key === null ? {} : { key }),
          })),
        });
        return;
      } catch (error) {
        await this.drop();
        if (this.closed || Date.now() > until) throw error;
        this.log(`not written (${brokerWords(error)}), trying again`);
        await delay(Math.min(200 * failures, 2000));
      }
    }
  }

  private async drop(): Promise<void> {
    const { producer } = this;
    this.producer = undefined;
    await producer?.close().catch(() => undefined);
  }
}
