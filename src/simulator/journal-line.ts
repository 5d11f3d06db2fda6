import type { Behaviour, Wish } from './behaviour';
import type { Cancellation, Receipt, Report, Request } from './inbound';
import type { MessageCode } from './message';
import type { Position } from './offset-tracker';

interface Heard {
  at: string;
  partner: string;
  order: string;
  id: string;
  correlationId: string | undefined;
  partition: number;
  offset: string;
  /** This message id came before. */
  repeated: boolean;
}

/** One line of the journal: what the partner saw and what it said, in the order in which it did. */
export type JournalLine =
  /** An order; `despatches` is how many advices it will write for it. */
  | ({ kind: 'seen'; behaviour: Behaviour; despatches: number } & Heard)
  /** A cancellation, and what it says to it. */
  | ({ kind: 'cancelling'; decision: Wish } & Heard)
  | ({ kind: 'receipt'; despatchNumber: string; code: string; reasonCode: string | undefined } & Heard)
  /** An error report; `topic`, `partition` and `offset` are the record's that it speaks of. */
  | {
      kind: 'reported';
      at: string;
      partner: string;
      subject: string;
      id: string;
      code: string;
      detail: string;
      pointer: string | undefined;
      topic: string;
      partition: number;
      offset: string;
      messageId: string | undefined;
    }
  | { kind: 'unreadable'; at: string; topic: string; partition: number; offset: string; why: string }
  /** An advice leaves, written before it does. */
  | { kind: 'despatching'; at: string; partner: string; order: string; despatchNumber: string; id: string }
  /** `withdrawn`: it was due, and is not written since the order is cancelled. */
  | {
      kind: 'answered' | 'withdrawn';
      at: string;
      partner: string;
      order: string;
      requestId: string;
      id: string;
      code: MessageCode;
    };

/** What is known of any message that the partner read about an order. */
export function heardOf(
  { party, id, correlationId, document }: Request | Cancellation | Receipt,
  { partition, offset }: Position,
  repeated: boolean,
): Heard {
  const at = new Date().toISOString();
  const place = { partition, offset: String(offset) };
  return { at, partner: party.id, order: document.orderNumber, id, correlationId, ...place, repeated };
}

export function receiptLine(receipt: Receipt, record: Position, repeated: boolean): JournalLine {
  const { despatchNumber, receiptCode: code, reasonCode } = receipt.document;
  return { kind: 'receipt', ...heardOf(receipt, record, repeated), despatchNumber, code, reasonCode };
}

export function reportLine({ party, id, document }: Report): JournalLine {
  const { subject, code, detail, pointer, topic, partition, offset, messageId } = document;
  const at = new Date().toISOString();
  return {
    ...{ kind: 'reported', at, partner: party.id, subject, id, code, detail, pointer },
    ...{ topic, partition, offset, messageId },
  };
}

export function unreadableLine({ topic, partition, offset }: Position, why: string): JournalLine {
  return { kind: 'unreadable', at: new Date().toISOString(), topic, partition, offset: String(offset), why };
}
