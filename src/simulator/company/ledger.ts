import type { DespatchAdvice, OrderRequest } from '../../contracts';
import { millionthsOf } from '../despatches';
import type { Fault } from './faults';
import { type Heard, isFault, type Said } from './heard';
import { contradiction, lineFault } from './word';

/** A request and what came back. */
export interface Exchange {
  kind: 'order' | 'cancellation';
  order: string;
  /** `ce_id` of the request. */
  id: string;
  correlationId: string;
  /** When it was written, ms since the epoch; undefined: not yet. */
  writtenAt: number | undefined;
  /** Every one, repeats too, in the order in which they were read. */
  answers: Answer[];
}

export interface Answer {
  code: string;
  /** `ce_id` */
  id: string;
  at: number;
  /** The same message came before. */
  isRepeat: boolean;
}

/** An order and everything that was said about it. */
export interface OrderFile {
  request: OrderRequest;
  /** What came first stands first: `AP`, `cancellation-RE`, …; no repeats. */
  words: string[];
  despatches: DespatchAdvice[];
  /** Despatches of which nothing was recorded, in words. */
  refusals: string[];
  faults: { fault: Fault; heard: Heard }[];
}

export interface Receipt {
  receiptCode: 'AP' | 'RE';
  reasonCode?: string;
  reason?: string;
}

/** What a record came to. `foreign`: it speaks of nothing that we asked. */
export type Finding =
  | { kind: 'answered'; exchange: Exchange; answer: Answer }
  | { kind: 'despatched'; receipt: Receipt; isRepeat: boolean }
  | { kind: 'fault'; fault: Fault; order: string | undefined }
  | { kind: 'foreign' };

/** The company's memory of what it asked and was told. Without clock and network. */
export class Ledger {
  readonly orders = new Map<string, OrderFile>();
  readonly exchanges = new Map<string, Exchange>();
  readonly faults: { fault: Fault; heard: Heard }[] = [];
  private readonly seen = new Map<string, string>();
  private readonly receipts = new Map<string, Receipt>();

  /** @param hearsAll what can't be read is a fault, too, where it is about an order that nobody here asked for */
  constructor(private readonly hearsAll = false) {}

  opened(exchange: Exchange, request?: OrderRequest): void {
    this.exchanges.set(exchange.correlationId, exchange);
    if (request) this.orders.set(exchange.order, { request, words: [], despatches: [], refusals: [], faults: [] });
  }

  take(heard: Heard): Finding {
    const order = this.orderOf(heard);
    const fault = (found: Fault): Finding => {
      this.faults.push({ fault: found, heard });
      if (order !== undefined) this.orders.get(order)?.faults.push({ fault: found, heard });
      return { kind: 'fault', fault: found, order };
    };
    const { said, envelope, topic, hash } = heard;
    // About somebody else's order. What is about none that can be told is nobody else's affair.
    if (order === undefined && !(isFault(said) && (this.hearsAll || heard.key === null))) return { kind: 'foreign' };
    if (isFault(said)) return fault(said);
    const id = `${topic}/${envelope.id}`;
    const before = this.seen.get(id);
    if (before !== undefined && before !== hash)
      return fault({ code: 'message-id-reused', detail: `ce_id ${envelope.id}` });
    const isRepeat = before !== undefined;
    if (envelope.correlationId === undefined)
      return fault({ code: 'correlation-missing', detail: 'no ce_correlationid' });
    const finding =
      said.kind === 'despatch-advice' ? this.despatched(said.document, id) : this.answered(heard, said, isRepeat);
    if ('code' in finding) return fault(finding);
    this.seen.set(id, hash);
    return finding;
  }

  /** The order that a record is about, as well as that can be told. */
  private orderOf({ key, envelope, said }: Heard): string | undefined {
    const exchange = this.exchanges.get(envelope.correlationId ?? '');
    const named = isFault(said) ? undefined : said.document.orderNumber;
    return [named, key ?? undefined, exchange?.order].find((order) => order !== undefined && this.orders.has(order));
  }

  private answered(heard: Heard, said: Exclude<Said, { kind: 'despatch-advice' }>, isRepeat: boolean): Finding | Fault {
    const { envelope, at } = heard;
    const { orderNumber, responseCode } = said.document;
    const exchange = this.exchanges.get(envelope.correlationId ?? '');
    if (!exchange) return { code: 'exchange-unknown', detail: `ce_correlationid ${envelope.correlationId}` };
    const kind = said.kind === 'order-response' ? 'order' : 'cancellation';
    if (exchange.kind !== kind || exchange.order !== orderNumber) {
      return { code: 'exchange-mismatch', detail: `the request is a ${exchange.kind} of ${exchange.order}` };
    }
    const file = this.orders.get(orderNumber);
    const answer = { code: responseCode, id: envelope.id ?? '', at, isRepeat };
    if (!isRepeat) {
      const fault = file && (contradiction(file, said) ?? lineFault(file.request, said));
      if (fault) return fault;
      file?.words.push(kind === 'order' ? responseCode : `cancellation-${responseCode}`);
    }
    exchange.answers.push(answer);
    return { kind: 'answered', exchange, answer };
  }

  /** Again what was said before, where the same advice comes again. */
  private despatched(advice: DespatchAdvice, id: string): Finding | Fault {
    const said = this.receipts.get(id);
    if (said) return { kind: 'despatched', receipt: said, isRepeat: true };
    const file = this.orders.get(advice.orderNumber);
    if (!file) return { kind: 'foreign' };
    const refused = refusal(file, advice);
    if (refused) file.refusals.push(`despatch ${advice.despatchNumber}: ${refused.reasonCode}, ${refused.reason}`);
    else file.despatches.push(advice);
    const receipt: Receipt = { receiptCode: refused ? 'RE' : 'AP', ...refused };
    this.receipts.set(id, receipt);
    return { kind: 'despatched', receipt, isRepeat: false };
  }
}

/** Those that lack their final answer; an order that was agreed to be cancelled needs none of its own. */
export function openOf(exchanges: readonly Exchange[]): Exchange[] {
  const said = ({ answers }: Exchange, code: string) => answers.some((answer) => answer.code === code);
  const cancelled = new Set(
    exchanges.filter((one) => one.kind === 'cancellation' && said(one, 'AP')).map(({ order }) => order),
  );
  return exchanges.filter(
    ({ kind, order, answers }) =>
      !answers.some(({ code }) => code !== 'AB') && !(kind === 'order' && cancelled.has(order)),
  );
}

/** Why nothing of a despatch is recorded, in the codes of the company's receipts. */
function refusal(
  { request, words, despatches }: OrderFile,
  { lines }: DespatchAdvice,
): { reasonCode: string; reason: string } | undefined {
  if (words.includes('RE') || words.includes('cancellation-AP')) {
    return { reasonCode: 'order-closed', reason: 'The order was rejected or cancelled.' };
  }
  const sent = despatches.flatMap((advice) => advice.lines);
  for (const { lineNumber } of lines) {
    const ordered = request.lines.find((line) => line.lineNumber === lineNumber);
    if (!ordered) return { reasonCode: 'line-unknown', reason: `The order has no line ${lineNumber}.` };
    const own = [...sent, ...lines].filter((line) => line.lineNumber === lineNumber);
    const sum = own.reduce((total, { quantity }) => total + millionthsOf(quantity), 0n);
    if (sum > millionthsOf(ordered.quantity)) {
      return {
        reasonCode: 'over-delivery',
        reason: `Line ${lineNumber}: more than the ${ordered.quantity} that were ordered.`,
      };
    }
  }
  return undefined;
}
