import {
  despatchAdvice,
  despatchReceipt,
  errorReport,
  orderCancellationResponse,
  orderRequest,
  orderResponse,
  topicFor,
} from '../contracts';
import type { Codec } from '../messaging/registry';
import type { Outgoing } from './answer-sender';
import { askedBy } from './articles';
import { answersTo, answerToCancellation, type Pace } from './answers';
import { type Behaviour, behaviourOf, type Mix, type Wish } from './behaviour';
import { despatchesGoods } from './despatches';
import { type Cancellation, type Inbound, type InboundRecord, readInbound, type Request } from './inbound';
import { heardOf, type JournalLine, receiptLine, reportLine, unreadableLine } from './journal-line';
import type { Message, Party } from './message';
import type { OffsetTracker, Position } from './offset-tracker';
import type { OrderBook } from './order-book';

/** Message ids that are remembered to tell a repeat, for the statistics alone: every request is answered. */
const MOST_REMEMBERED = 1_000_000;

/** How the partner behaves. */
export interface Manners extends Pace {
  parties: readonly Party[];
  mix: Mix;
  cancellation: Mix<Wish>;
}

export type Arrived = InboundRecord & Position;

/** A record that was understood: what the journal says of it, and what is written for it. */
interface Taken {
  line: JournalLine;
  messages: readonly Message[];
  order: string;
  requestId: string;
  isDue: () => boolean;
}

/** Reads what the partner is sent and decides what is written, and when. */
export class Desk {
  readonly statistics = { seen: 0, repeated: 0, unreadable: 0, cancellations: 0, receipts: 0, reports: 0 };
  private readonly partyOf: Map<string, Party>;
  private readonly remembered = new Set<string>();

  constructor(
    private readonly manners: Manners,
    private readonly codec: Codec,
    private readonly book: OrderBook,
  ) {
    const heard = [orderRequest, despatchReceipt, errorReport];
    this.partyOf = new Map(
      manners.parties.flatMap((party) => heard.map((contract) => [topicFor(contract, party.id), party])),
    );
  }

  get topics(): string[] {
    return [...this.partyOf.keys()];
  }

  /** Resolves when answers need no network; rejects as the codec does, where no registry or no schema of theirs is there. */
  async ready(): Promise<void> {
    for (const { id, format } of this.manners.parties) {
      for (const contract of [orderResponse, orderCancellationResponse, despatchAdvice]) {
        await this.codec.ready(contract, { topic: topicFor(contract, id), format });
      }
    }
  }

  /**
   * What the journal says of these records, and the answers to them; the tracker has a ticket for each afterwards. Rejects
   * before any of them is taken when the registry can't be asked for a schema that is new to us.
   */
  async take(
    batch: readonly Arrived[],
    tracker: OffsetTracker,
  ): Promise<{ lines: JournalLine[]; outgoing: Outgoing[] }> {
    const documents: [Arrived, Inbound | { why: string }][] = [];
    for (const record of batch) {
      const party = this.partyOf.get(record.topic);
      documents.push([record, party ? await readInbound(record, party, this.codec) : { why: 'another topic' }]);
    }
    const lines: JournalLine[] = [];
    const outgoing: Outgoing[] = [];
    for (const [record, inbound] of documents) {
      if ('why' in inbound) {
        this.statistics.unreadable++;
        tracker.take(record, 0);
        lines.push(unreadableLine(record, inbound.why));
        continue;
      }
      const taken = await this.decide(inbound, record);
      lines.push(taken.line);
      outgoing.push(...this.sent(taken, inbound.party.id, tracker.take(record, taken.messages.length), tracker));
    }
    return { lines, outgoing };
  }

  private sent(
    { messages, isDue, order, requestId }: Taken,
    partner: string,
    ticket: ReturnType<OffsetTracker['take']>,
    tracker: OffsetTracker,
  ): Outgoing[] {
    this.book.opened(partner, order, messages.length);
    const done = () => {
      this.book.written(partner, order);
      tracker.answered(ticket);
    };
    return messages.map((message) => ({ message, partner, order, requestId, isDue, done }));
  }

  private async decide(inbound: Inbound, record: Arrived): Promise<Taken> {
    const repeated = this.remember(inbound.id);
    switch (inbound.kind) {
      case 'order-request':
        this.statistics.seen++;
        if (repeated) this.statistics.repeated++;
        return this.order(inbound, record, repeated);
      case 'order-cancellation':
        this.statistics.cancellations++;
        return this.cancellation(inbound, record, repeated);
      case 'despatch-receipt':
        this.statistics.receipts++;
        return unanswered(inbound, receiptLine(inbound, record, repeated));
      case 'error-report':
        this.statistics.reports++;
        return unanswered(inbound, reportLine(inbound));
    }
  }

  private async order(request: Request, record: Arrived, repeated: boolean): Promise<Taken> {
    const { orderNumber } = request.document;
    const behaviour = behaviourOf(orderNumber, this.manners.mix, askedBy(request.document));
    const messages = await answersTo(request, behaviour, this.manners, this.codec);
    const despatches = messages.filter(({ despatchNumber }) => despatchNumber !== undefined).length;
    return {
      line: { kind: 'seen', ...heardOf(request, record, repeated), behaviour, despatches },
      ...{ messages, order: orderNumber, requestId: request.id },
      isDue: () => !this.book.isCancelled(request.party.id, orderNumber),
    };
  }

  private async cancellation(cancellation: Cancellation, record: Arrived, repeated: boolean): Promise<Taken> {
    const { orderNumber } = cancellation.document;
    const wish = behaviourOf(orderNumber, this.manners.cancellation);
    const ships = despatchesGoods(this.behaviourOf(orderNumber));
    const { decision, why } = this.book.decide(cancellation.party.id, orderNumber, wish, ships);
    return {
      line: { kind: 'cancelling', ...heardOf(cancellation, record, repeated), decision },
      messages: [await answerToCancellation(cancellation, decision, why, this.manners, this.codec)],
      ...{ order: orderNumber, requestId: cancellation.id },
      isDue: () => true,
    };
  }

  private behaviourOf(orderNumber: string): Behaviour {
    return behaviourOf(orderNumber, this.manners.mix);
  }

  /** Was this message id seen before? */
  private remember(id: string): boolean {
    if (this.remembered.has(id)) return true;
    this.remembered.add(id);
    if (this.remembered.size > MOST_REMEMBERED) {
      const [oldest] = this.remembered;
      if (oldest !== undefined) this.remembered.delete(oldest);
    }
    return false;
  }
}

const unanswered = ({ id }: Inbound, line: JournalLine): Taken => ({
  line,
  messages: [],
  order: '',
  requestId: id,
  isDue: () => false,
});
