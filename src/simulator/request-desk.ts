import { orderRequest, topicFor } from '../contracts';
import { JsonCodec } from '../messaging/registry';
import type { Outgoing } from './answer-sender';
import { answersTo } from './answers';
import { behaviourOf } from './behaviour';
import type { JournalLine } from './journal';
import type { OffsetTracker, Position } from './offset-tracker';
import type { SimulatorOptions } from './options';
import { readRequest, type Request, type RequestRecord } from './request';

/** Message ids that are remembered to tell a repeat, for the statistics alone: every request is answered. */
const MOST_REMEMBERED = 1_000_000;

type Arrived = RequestRecord & Position;

/** Reads requests and decides what is answered, and when. */
export class RequestDesk {
  readonly statistics = { seen: 0, repeated: 0, unreadable: 0 };
  private readonly codec = new JsonCodec();
  private readonly partnerOf: Map<string, string>;
  private readonly remembered = new Set<string>();

  constructor(private readonly options: Pick<SimulatorOptions, 'partners' | 'mix' | 'delayMs' | 'slowMs'>) {
    this.partnerOf = new Map(options.partners.map((partner) => [topicFor(orderRequest, partner), partner]));
  }

  get topics(): string[] {
    return [...this.partnerOf.keys()];
  }

  /** What the journal says of these records, and the answers to them; the tracker has a ticket for each afterwards. */
  async take(
    batch: readonly Arrived[],
    tracker: OffsetTracker,
  ): Promise<{ lines: JournalLine[]; outgoing: Outgoing[] }> {
    const at = new Date().toISOString();
    const lines: JournalLine[] = [];
    const outgoing: Outgoing[] = [];
    for (const record of batch) {
      const request = await readRequest(record, this.partnerOf.get(record.topic) ?? '', this.codec);
      if ('why' in request) {
        this.statistics.unreadable++;
        tracker.take(record, 0);
        lines.push({ kind: 'unreadable', at, topic: record.topic, ...placeOf(record), why: request.why });
      } else {
        const { answers, line } = await this.decide(request, record, at);
        const ticket = tracker.take(record, answers.length);
        const written = () => tracker.answered(ticket);
        outgoing.push(...answers.map((answer) => ({ answer, order: line.order, requestId: request.id, written })));
        lines.push(line);
      }
    }
    return { lines, outgoing };
  }

  private async decide(request: Request, record: Arrived, at: string) {
    const { id, partner, correlationId } = request;
    const order = request.document.orderNumber;
    const behaviour = behaviourOf(order, this.options.mix);
    const repeated = this.remember(id);
    return {
      answers: await answersTo(request, behaviour, this.options, this.codec),
      line: { kind: 'seen' as const, at, partner, order, id, correlationId, ...placeOf(record), repeated, behaviour },
    };
  }

  /** Was this message id seen before? */
  private remember(id: string): boolean {
    this.statistics.seen++;
    if (this.remembered.has(id)) {
      this.statistics.repeated++;
      return true;
    }
    this.remembered.add(id);
    if (this.remembered.size > MOST_REMEMBERED) {
      const [oldest] = this.remembered;
      if (oldest !== undefined) this.remembered.delete(oldest);
    }
    return false;
  }
}

const placeOf = ({ partition, offset }: Position) => ({ partition, offset: String(offset) });
