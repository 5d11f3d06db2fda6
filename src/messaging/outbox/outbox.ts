import { type AnyContract, typeOf } from '../../contracts';
import { query, queryAnew, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import type { ChannelCatalog } from '../channels';
import { partitionOf } from '../kafka';
import type { Codec } from '../registry';
import type { Outgoing, PreparedMessage } from './outbox-message';
import type { SentAddress } from './receipts';

/** Room that Kafka's batch and record headers and our own headers take beside key and value. */
const RECORD_OVERHEAD = 1024;

/** The only door into the outbox. */
export class Outbox {
  private readonly written = new WeakSet<Tx>();

  /** @param wake tells the relay of this process, if there is one, that rows were committed */
  constructor(
    private readonly channels: ChannelCatalog,
    private readonly codec: Codec,
    readonly wake: () => void = () => undefined,
  ) {}

  /**
   * Resolves when {@link prepare} needs no network for this document and partner: for callers that want to fail alone, before
   * they join others or lock anything. Rejects with NonRetriableError `channel-unknown`, RegistryUnavailable, or AppError
   * `schema-unpublished` or `registry-unconfigured`.
   */
  async ready(contract: AnyContract, partner: string): Promise<void> {
    await this.codec.ready(contract, await this.channels.of(contract, partner));
  }

  /**
   * Makes the bytes before the transaction: what can't be encoded, or is larger than the topic takes, fails here, in the
   * caller's request. Throws NonRetriableError `document-invalid`, `message-too-large` or `channel-unknown`; else as {@link ready}.
   */
  async prepare<T>(message: Outgoing<T>): Promise<PreparedMessage> {
    const { contract, value } = message;
    const channel = await this.channels.of(contract, message.partner);
    const { topic } = channel;
    const encoded = await this.codec.encode(contract, channel, value);
    const aggregateId = String(value[contract.key]);
    const size = encoded.payload.length + Buffer.byteLength(aggregateId) + RECORD_OVERHEAD;
    if (size > channel.maxMessageBytes) {
      throw new NonRetriableError(
        'message-too-large',
        `The document takes ${size} bytes; ${topic} takes ${channel.maxMessageBytes}.`,
        { hint: 'Split the document, or have the topic and the channel made larger.' },
      );
    }
    return {
      id: message.id,
      aggregateType: message.aggregateType,
      aggregateId,
      type: typeOf(contract),
      topic,
      partition: partitionOf(aggregateId, channel.partitions),
      correlationId: message.correlationId ?? null,
      causationId: message.causationId ?? null,
      traceparent: message.traceparent ?? null,
      dataSchema: encoded.dataSchema ?? null,
      contentType: encoded.contentType,
      time: message.time,
      payload: encoded.payload,
    };
  }

  /**
   * Adds messages in the caller's transaction and returns their `seq`s (decimal text), in the same order.
   * The caller holds the row lock of each message's aggregate (FOR UPDATE, an UPDATE or the row's own INSERT): then `seq`
   * order equals commit order within a key, which G2 rests on.
   */
  async add(tx: Tx, messages: readonly PreparedMessage[]): Promise<string[]> {
    if (messages.length === 0) return [];
    this.written.add(tx);
    const column = <K extends keyof PreparedMessage>(name: K) => messages.map((message) => message[name]);
    // Numbers are drawn in the order of the arrays: unnest WITH ORDINALITY is read in order and nextval is called row by row.
    const rows = await query<{ id: string; seq: string }>(
      tx,
      `INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, correlationid, causationid, traceparent, dataschema, content_type, time, payload)
       SELECT * FROM unnest(:id::uuid[], :aggregateType::text[], :aggregateId::text[], :type::text[], :topic::text[], :partition::int[], :correlationId::text[],
                            :causationId::text[], :traceparent::text[], :dataSchema::text[], :contentType::text[], :time::timestamptz[], :payload::bytea[])
       RETURNING id, seq`,
      {
        id: column('id'),
        aggregateType: column('aggregateType'),
        aggregateId: column('aggregateId'),
        type: column('type'),
        topic: column('topic'),
        partition: column('partition'),
        correlationId: column('correlationId'),
        causationId: column('causationId'),
        traceparent: column('traceparent'),
        dataSchema: column('dataSchema'),
        contentType: column('contentType'),
        time: column('time'),
        payload: column('payload'),
      },
    );
    const seqs = new Map(rows.map((row) => [row.id, row.seq]));
    return messages.map(({ id }) => {
      const seq = seqs.get(id.toLowerCase());
      if (seq === undefined) throw new Error(`the outbox row of message ${id} came back under another id`);
      return seq;
    });
  }

  /**
   * Adds messages once more as they are: same id, same bytes, a new number. By message id, in the order of their numbers; one that the
   * outbox keeps no longer is left out. The caller holds the row lock of their aggregates, as for {@link add}.
   */
  async addAgain(tx: Tx, seqs: readonly string[]): Promise<Map<string, SentAddress>> {
    if (seqs.length === 0) return new Map();
    this.written.add(tx);
    // Planned anew: with the numbers at hand only the partitions that hold them are opened.
    const rows = await queryAnew<SentAddress & { id: string }>(
      tx,
      `INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, correlationid, causationid, traceparent, dataschema, content_type, time, payload)
       SELECT id, aggregatetype, aggregateid, type, topic, partition, correlationid, causationid, traceparent, dataschema, content_type, time, payload
       FROM outbox_message WHERE seq = ANY(:seqs::bigint[]) ORDER BY seq
       RETURNING id, seq, topic, partition`,
      { seqs },
    );
    return new Map(rows.map(({ id, ...address }) => [id, address]));
  }

  /** Were messages added in this transaction? Who began it then calls {@link wake} behind its commit. */
  hasWritten(tx: Tx): boolean {
    return this.written.has(tx);
  }
}
