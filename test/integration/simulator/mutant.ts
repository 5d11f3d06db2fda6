import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Consumer, type MessagesStream } from '@platformatic/kafka';
import { despatchAdvice, fromHeaders, orderRequest, orderResponse, topicFor } from '../../../src/contracts';
import { JsonCodec } from '../../../src/messaging/registry';
import type { Access } from '../../../src/simulator/access';
import { answersTo, answerToCancellation } from '../../../src/simulator/answers';
import { askedBy } from '../../../src/simulator/articles';
import type { Wish } from '../../../src/simulator/behaviour';
import { connectionOf, makeProducer } from '../../../src/simulator/connection';
import { type Cancellation, readInbound, type Request } from '../../../src/simulator/inbound';
import { makeMessage, type Message } from '../../../src/simulator/message';

const PACE = { delayMs: 0, slowMs: 0, shipMs: 0 };
const codec = new JsonCodec();

/** What a partner does otherwise than a good one; each is told what a good one would write. */
export interface Mutation {
  order?: (good: readonly Message[], request: Request, raw: string) => readonly Message[];
  wish?: (cancellation: Cancellation) => Wish;
  /** @param advice of a despatch of the cancelled order */
  cancellation?: (good: Message, cancellation: Cancellation, advice: Message) => readonly Message[];
  /** What it does with a record that it can't read: accepts it as an order all the same, or reads nothing more. */
  unreadable?: (raw: string) => 'accept' | 'stop' | 'pass';
}

function adviceOf({ party, document, id }: Cancellation): Promise<Message> {
  const { orderNumber, issuedAt } = document;
  const advice = {
    orderNumber,
    despatchNumber: `D-${orderNumber}`,
    issuedAt,
    lines: [{ lineNumber: 1, quantity: '1' }],
  };
  const occasion = { party, orderNumber, time: issuedAt, causationId: id, correlationId: randomUUID(), afterMs: 0 };
  return makeMessage(despatchAdvice, advice, { ...occasion, id: randomUUID(), code: 'despatch' }, codec);
}

/** A partner that keeps the contracts but for one thing. It speaks json. */
export class MutantPartner {
  private stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | undefined;
  private reading: Promise<void> | undefined;
  private readonly consumer: Consumer;
  private readonly producer;
  private stopped = false;

  constructor(
    private readonly id: string,
    access: Access,
    private readonly mutation: Mutation,
  ) {
    const connection = connectionOf(access, `mutant-${id}`);
    this.consumer = new Consumer({ ...connection, groupId: `partner.${id}.mutant`, retries: 1 });
    this.consumer.on('error', () => undefined);
    this.producer = makeProducer(connection);
  }

  async start(): Promise<void> {
    this.stream = await this.consumer.consume({
      topics: [topicFor(orderRequest, this.id)],
      mode: 'earliest',
      autocommit: false,
      maxWaitTime: 100,
    });
    this.reading = this.read(this.stream);
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await this.stream?.close().catch(() => undefined);
    await this.reading?.catch(() => undefined);
    await this.consumer.close(true).catch(() => undefined);
    await this.producer.close().catch(() => undefined);
  }

  private async read(stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    for await (const record of stream) {
      const inbound = await readInbound(record, { id: this.id, format: 'json' }, codec);
      const raw = String(record.value);
      if ('why' in inbound) {
        const deed = this.mutation.unreadable?.(raw) ?? 'pass';
        if (deed === 'stop') return;
        if (deed === 'accept') await this.write([await this.acceptance(record)]);
      } else if (inbound.kind === 'order-request') {
        const good = await answersTo(inbound, askedBy(inbound.document) ?? 'accept', PACE, codec);
        await this.write(this.mutation.order?.(good, inbound, raw) ?? good);
      } else if (inbound.kind === 'order-cancellation') {
        const wish = this.mutation.wish?.(inbound) ?? 'agree';
        const good = await answerToCancellation(inbound, wish, undefined, PACE, codec);
        await this.write(this.mutation.cancellation?.(good, inbound, await adviceOf(inbound)) ?? [good]);
      }
    }
  }

  private acceptance({ key, headers }: { key: Buffer; headers: ReadonlyMap<Buffer, Buffer> }): Promise<Message> {
    const named = Object.fromEntries([...headers].map(([name, value]) => [String(name), value]));
    const { id: causationId = '', correlationId } = fromHeaders(named);
    const orderNumber = String(key);
    const issuedAt = '2026-01-02T03:04:05.000Z';
    const occasion = {
      party: { id: this.id, format: 'json' as const },
      orderNumber,
      time: issuedAt,
      causationId,
      correlationId,
    };
    const document = { orderNumber, responseCode: 'AP' as const, issuedAt };
    return makeMessage(orderResponse, document, { ...occasion, id: randomUUID(), code: 'AP', afterMs: 0 }, codec);
  }

  private async write(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      const { topic, key, headers, value, afterMs } = message;
      const send = async () => {
        await this.producer.send({ acks: -1, messages: [{ topic, headers, value, ...(key === null ? {} : { key }) }] });
      };
      if (afterMs === 0) await send();
      else
        void delay(afterMs)
          .then(send)
          .catch(() => undefined);
    }
  }
}
