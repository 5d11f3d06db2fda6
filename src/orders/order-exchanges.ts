import { CONTRACTS, topicFor } from '../contracts';
import { standingInWords, standingOf } from '../messaging/channels';
import { parkedOf } from '../messaging/consumer';
import { type Exchange, type Exchanges, ReplyWatch } from '../messaging/exchanges';
import {
  delaysOf,
  droppedOf,
  parkedOf as parkedOutboundOf,
  type Receipt,
  receiptsOf,
  type SentAddress,
} from '../messaging/outbox';
import type { Database } from '../platform/database';
import type { Order } from './domain/order';
import { type Messages, type OrderEvent, sentBy } from './domain/timeline';

/** A message of an exchange, with its place in Kafka once it has one. */
export interface SentMessage {
  messageId: string;
  topic: string;
  partition: number;
  /** Null while it waits to be published. */
  place: Receipt | null;
}

/** What is known of an order's exchanges and messages. */
export interface Correspondence extends Messages {
  /** Ours and the partner's, oldest first. */
  exchanges: readonly Exchange[];
  places: ReadonlyMap<string, Receipt>;
}

/** Reads an order's exchanges through its history: the ledger is never searched by order. */
export class OrderExchanges {
  constructor(
    private readonly database: Database,
    private readonly exchanges: Exchanges,
  ) {}

  async of(
    { partner, orderNumber }: Pick<Order, 'partner' | 'orderNumber'>,
    events: readonly OrderEvent[],
  ): Promise<Correspondence> {
    const correlationIds = [...new Set(events.map(({ correlationId }) => correlationId))];
    const sent = events.flatMap((event) => sentBy(event) ?? []);
    const [published, parked, exchanges, standing] = await Promise.all([
      this.published(sent),
      parkedOf(this.database, partner, orderNumber),
      this.exchanges.ofPartner(this.database, partner, correlationIds),
      standingOf(this.database, partner),
    ]);
    const { places, dropped } = published;
    const asked = exchanges.filter(({ direction }) => direction === 'out');
    const topics = new Map(asked.map(({ kind }) => [kind, replyTopicOf(kind, partner)]));
    const marks = await ReplyWatch.marks(this.database, [...new Set(topics.values())]);
    const isPublished = (seq: string) => places.has(seq) || dropped.has(seq);
    const requests = asked.map((exchange) => ({
      exchange,
      isPublished: isPublished(exchange.resentSeq ?? exchange.requestSeq ?? ''),
      hasParkedAnswer: parked.some(({ correlationId }) => correlationId === exchange.correlationId),
      readUpTo: marks.find(({ topic }) => topic === topics.get(exchange.kind))?.readUpTo ?? null,
    }));
    const words = standingInWords(partner, standing);
    return { exchanges, requests, ...published, parked, standing: { ...standing, words } };
  }

  /** What is known of messages of ours in Kafka. A message goes from the lane, or from what is parked, to its receipt: read in that order, none is missed. */
  private async published(
    sent: readonly SentAddress[],
  ): Promise<Pick<Correspondence, 'places' | 'unpublished' | 'delays' | 'dropped'>> {
    const { database } = this;
    const first = await receiptsOf(database, sent);
    const unsent = sent.filter(({ seq }) => !first.has(seq));
    const seqs = unsent.map(({ seq }) => seq);
    const delays = await delaysOf(database, unsent);
    const unpublished = await parkedOutboundOf(database, seqs);
    const places = new Map([...first, ...(await receiptsOf(database, unsent))]);
    const dropped = await droppedOf(
      database,
      seqs.filter((seq) => !places.has(seq) && !unpublished.has(seq)),
    );
    return { places, unpublished, delays, dropped };
  }
}

/** Where the partner answers requests of this kind; empty where nobody does. */
function replyTopicOf(kind: string, partner: string): string {
  const answer = CONTRACTS.find(({ answers }) => answers === kind);
  return answer ? topicFor(answer, partner) : '';
}

/** Every time that our request of this exchange was sent, oldest first. */
export const sendingsOf = (
  { correlationId, requestMessageId }: Exchange,
  events: readonly OrderEvent[],
  places: ReadonlyMap<string, Receipt>,
): SentMessage[] =>
  events
    .filter((event) => event.correlationId === correlationId)
    .flatMap((event) => sentBy(event) ?? [])
    .filter(({ messageId }) => messageId === requestMessageId)
    .map(({ messageId, topic, partition, seq }) => ({ messageId, topic, partition, place: places.get(seq) ?? null }));
