import type { Channel } from '../channels';
import type { Tx } from '../../platform/database';

/** A decoded message of a partner, whose identity comes from the channel, never from the content. */
export interface InboundMessage<T> {
  /** `ce_id`, or `topic/partition/offset` where the channel allows it. */
  id: string;
  channel: Channel;
  partner: string;
  /** Record key as text; null where the record has none. */
  key: string | null;
  type: string;
  correlationId: string | undefined;
  causationId: string | undefined;
  /** `ce_time`, as the partner says. */
  time: string | undefined;
  /** When it was written to the topic, as its record says (its writer's clock, or the broker's where the topic has it so); undefined where it says nothing. */
  writtenAt: Date | undefined;
  value: T;
  topic: string;
  partition: number;
  /** Decimal text. */
  offset: string;
}

/** What a handler gets: messages of one contract and one partner, in order, inside the transaction that also records them. */
export interface InboundBatch<T> {
  tx: Tx;
  partner: string;
  now: Date;
  messages: readonly InboundMessage<T>[];
}

/**
 * What became of a message, by name:
 * `applied` its effect is written in the batch's transaction ·
 * `retry` it can't be applied yet (`too-early`, say): it waits with its key ·
 * `dead` it can never be applied as it is ·
 * `held` it was not looked at, because an earlier message of its key in this batch is `retry` or `dead`.
 */
export type Outcome =
  | { kind: 'applied' }
  | { kind: 'retry'; code: string; detail: string }
  | { kind: 'dead'; code: string; detail: string; pointer?: string }
  | { kind: 'held' };

/**
 * A method with `@EventPattern(typeOf(contract))`. Returns one outcome per message, in order. It throws only when something
 * is broken: then the whole transaction rolls back and the batch is split until the offender is alone.
 * It waits for nothing but the database: contracts that `answer` its own were made ready, so `Outbox.prepare` of them needs no network.
 * Locks in the order: orders (sorted by number), then exchanges (sorted by correlation id).
 */
export type InboundHandler<T> = (batch: InboundBatch<T>) => Promise<Outcome[]>;
