import type { NotificationEvent } from '../../notifications';
import type { OrderEventDetail, StepType } from './order';

/** A step of an order as people and systems are told of it. */
export interface Happening {
  orderNumber: string;
  partner: string;
  /** The order's, after the step. */
  version: number;
  type: StepType;
  detail?: Pick<OrderEventDetail, 'reason' | 'lines' | 'documentNumber'> | undefined;
  despatch?: Despatched | undefined;
  missed?: Missed | undefined;
}

/** What is told of a despatch beside its number; who drives is nobody's business. */
export interface Despatched {
  carrier: string | null;
  trackingNumber: string | null;
}

/** The deadline that passed without an answer. */
export interface Missed {
  deadline: Date;
  /** How often the request had been sent again. */
  resends: number;
  /** It asked to cancel the order. */
  isCancellation: boolean;
}

/** Kinds of notifications by the step that they tell of; of every other step nobody is told. */
const KINDS: Partial<Record<StepType, string>> = {
  accepted: 'order-accepted',
  rejected: 'order-rejected',
  changed: 'order-changed',
  overdue: 'order-overdue',
  'partly-shipped': 'order-shipped',
  shipped: 'order-shipped',
};

/** A partner's text is of any length, and stands in one row for each receiver. */
const LONGEST_TEXT = 500;
const MOST_LINES = 50;

export const isTold = ({ type }: Pick<Happening, 'type'>): boolean => KINDS[type] !== undefined;

/** Undefined where nobody is told of such a step. The same step makes the same event, whenever it is asked. */
export function noticeOf(happening: Happening, partnerName: string, at: Date): NotificationEvent | undefined {
  const { orderNumber, partner, version, type } = happening;
  const kind = KINDS[type];
  if (kind === undefined) return undefined;
  return {
    id: `order/${orderNumber}/${version}`,
    kind,
    at,
    partner,
    orderNumber,
    data: {
      orderNumber,
      partner: { id: partner, name: partnerName },
      at: at.toISOString(),
      ...saidBy(happening),
    },
  };
}

function saidBy({ type, detail = {}, despatch, missed }: Happening): Record<string, unknown> {
  if (missed) {
    const { deadline, resends, isCancellation } = missed;
    return {
      deadline: deadline.toISOString(),
      ...(resends > 0 ? { count: resends } : {}),
      ...(isCancellation ? { cancellation: true } : {}),
    };
  }
  const { reason, lines = [], documentNumber } = detail;
  return {
    ...(type === 'changed' ? { lines: lines.slice(0, MOST_LINES) } : {}),
    ...(lines.length > MOST_LINES ? { moreLines: lines.length - MOST_LINES } : {}),
    ...(documentNumber === undefined ? {} : { despatchNumber: documentNumber }),
    ...(type === 'partly-shipped' ? { partly: true } : {}),
    ...textOf('carrier', despatch?.carrier),
    ...textOf('trackingNumber', despatch?.trackingNumber),
    ...textOf('reason', reason),
  };
}

/** Cut within a character, half of it would be left, which no database takes. */
const textOf = (name: string, text: string | null | undefined): Record<string, string> =>
  text ? { [name]: text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1).toWellFormed()}…` : text } : {};
