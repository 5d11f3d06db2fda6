import type { AnyContract } from '../../contracts';
import type { Tx } from '../../platform/database';
import type { FreshRecord, Invoke } from './batch-fold';
import type { InboundBatch, InboundMessage, Outcome } from './handler';

/** Gives a batch of one contract to its handler. */
export type Dispatch = (contract: AnyContract, batch: InboundBatch<unknown>) => Promise<readonly Outcome[]>;

/** Hands runs of one contract to their handler, in this transaction. */
export function handOver(dispatch: Dispatch, tx: Tx, now: Date): Invoke {
  return (run) => {
    const { contract, channel } = (run[0] as FreshRecord).inspected;
    return dispatch(contract as AnyContract, { tx, partner: channel.partner, now, messages: run.map(toMessage) });
  };
}

function toMessage({ inspected, inboxId }: FreshRecord): InboundMessage<unknown> {
  const { record, channel, envelope, content } = inspected;
  return {
    id: inboxId,
    channel,
    partner: channel.partner,
    key: record.key?.toString('utf8') ?? null,
    type: envelope.type ?? '',
    correlationId: envelope.correlationId,
    causationId: envelope.causationId,
    time: envelope.time,
    writtenAt: record.timestamp > 0 ? new Date(record.timestamp) : undefined,
    value: 'value' in content ? content.value : undefined,
    topic: record.topic,
    partition: record.partition,
    offset: String(record.offset),
  };
}
