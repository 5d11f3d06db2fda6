import type { ParkedMessage } from '../../messaging/consumer';
import { OPEN_STATES, type Order, type OrderEventDetail, type StepType } from './order';

/** Something that happened to an order and is recorded, with the message that caused it or that it caused. */
export interface OrderEvent {
  type: StepType;
  at: Date;
  messageId: string;
  correlationId: string;
  /** Set when the message is ours: its number in the outbox. */
  outboxSeq: string | null;
  topic: string;
  partition: number;
  /** Set when the message is the partner's. */
  offset: string | null;
  detail: OrderEventDetail | null;
}

export type StepName =
  | StepType
  | 'published'
  | 'waiting-to-be-published'
  | 'answer-waits'
  | 'answer-held'
  | 'answer-refused'
  | 'waiting-for-answer'
  | 'answer-overdue';

/** One line of an order's story. */
export interface TimelineStep {
  /** null: it is still to come. */
  at: Date | null;
  step: StepName;
  text: string;
  messageId: string | null;
  correlationId: string | null;
  topic: string | null;
  partition: number | null;
  offset: string | null;
}

/** Where Kafka has a message of ours, and since when. */
export interface Place {
  topic: string;
  partition: number;
  offset: string;
  sentAt: Date;
}

/** By outbox number. */
export type Places = ReadonlyMap<string, Place>;

/** The story of an order in order: what happened, where its messages are, and what is waited for. */
export function timelineOf(
  order: Order,
  events: readonly OrderEvent[],
  places: Places,
  parked: readonly ParkedMessage[],
  now: Date,
): TimelineStep[] {
  const steps = events.flatMap((event) => {
    const message = sentBy(event);
    const happened = event.outboxSeq === null ? received(order, event) : own(order, event);
    return message ? [happened, publication(event, message, places.get(message.seq))] : [happened];
  });
  steps.push(...parked.map((message) => unapplied(order, message)));
  // Whether a request that waits in the outbox is overdue is no question to the partner.
  const isPublished = ({ outboxSeq }: OrderEvent) => outboxSeq !== null && places.has(outboxSeq);
  steps.push(...events.filter(isPublished).flatMap((event) => awaited(order, event, now)));
  return steps;
}

interface Sent {
  messageId: string;
  seq: string;
  topic: string;
  partition: number;
  what: string;
}

/** The message of ours that belongs to a step: the request that it is, or the answer that was given with it. */
export function sentBy({ type, messageId, outboxSeq: seq, topic, partition, detail }: OrderEvent): Sent | undefined {
  const what = type === 'cancellation-requested' ? 'The cancellation' : 'The order';
  if (seq !== null) return { messageId, seq, topic, partition, what };
  return detail?.reply && { ...detail.reply, what: 'Our answer' };
}

const own = (order: Order, event: OrderEvent): TimelineStep => ({
  ...messageOf(event),
  step: event.type,
  text:
    event.type === 'cancellation-requested'
      ? `${order.partner} is asked to cancel the order: ${event.detail?.reason ?? 'no reason recorded'}`
      : `Order placed with ${order.partner}: ${count(order.lines.length, 'line')}, ${order.currency}.`,
  topic: null,
  partition: null,
  offset: null,
});

function publication(event: OrderEvent, message: Sent, place: Place | undefined): TimelineStep {
  const { messageId, topic, partition, what } = message;
  const sent = { ...messageOf(event), messageId, topic, partition };
  if (!place) {
    const text = `${what} waits to be published.`;
    return { ...sent, at: null, step: 'waiting-to-be-published', text, offset: null };
  }
  const { sentAt: at, offset } = place;
  return { ...sent, at, step: 'published', text: `${what} is in Kafka.`, offset };
}

/** What the partner did; `placed` and `cancellation-requested` are our own steps. */
const WORDS: Readonly<Record<StepType, string>> = {
  placed: 'placed the order',
  acknowledged: 'acknowledged the order; its final answer is still to come',
  accepted: 'accepted the order',
  rejected: 'rejected the order',
  changed: 'accepted the order with changes',
  cancelled: 'cancelled the order, as it was asked to',
  'partly-shipped': 'despatched a part of the order',
  shipped: 'despatched all of the order, or the rest of it',
  'cancellation-requested': 'was asked to cancel the order',
  'cancellation-agreed': 'agreed to cancel the order, which it had rejected before',
  'cancellation-refused': 'refused to cancel the order',
  'answer-noted': 'answered the order after it had cancelled it, which changes nothing',
  'despatch-refused': 'announced a despatch, which was refused',
};

function received(order: Order, event: OrderEvent): TimelineStep {
  const { reason, late, lines, code, documentNumber } = event.detail ?? {};
  const document = documentNumber === undefined ? '' : ` (${documentNumber})`;
  const said = code === undefined ? '' : ` (${code})`;
  const changes = lines ? ` (${count(lines.length, 'line')})` : '';
  const text = `${order.partner} ${WORDS[event.type]}${document}${said}${changes}${late ? ', after the deadline' : ''}${reason ? `: ${reason}` : '.'}`;
  return {
    ...messageOf(event),
    step: event.type,
    text,
    topic: event.topic,
    partition: event.partition,
    offset: event.offset,
  };
}

/** An answer that changed nothing yet. The reason is for staff: it may quote the partner's document. */
function unapplied(order: Order, message: ParkedMessage): TimelineStep {
  const { state, code, detail, parkedAt: at, messageId, correlationId, topic, partition, offset } = message;
  const reason = `${detail ?? 'no reason recorded'} (${code ?? 'unknown'})`;
  const [step, text] = (
    {
      waiting: ['answer-waits', `A message of ${order.partner} could not be applied yet: ${reason}.`],
      held: ['answer-held', `A message of ${order.partner} waits behind an earlier one of this order.`],
      dead: [
        'answer-refused',
        `A message of ${order.partner} can't be applied and is kept as a dead letter: ${reason}.`,
      ],
    } as const
  )[state];
  return { at, step, text, messageId, correlationId, topic, partition, offset };
}

/** What a published request of ours still waits for, if anything. */
function awaited(order: Order, request: OrderEvent, now: Date): TimelineStep[] {
  const { cancellation, deadline, partner } = order;
  const isCancellation = request.type === 'cancellation-requested';
  const isOpen = isCancellation
    ? cancellation?.state === 'requested' && cancellation.correlationId === request.correlationId
    : OPEN_STATES.includes(order.state);
  if (!isOpen) return [];
  const due = isCancellation ? (request.detail?.due ?? 'at a time not recorded') : deadline.toISOString();
  const isOverdue = Date.parse(due) < now.getTime();
  const answer = isCancellation ? 'answer to the cancellation' : 'final answer';
  return [
    {
      ...messageOf(request),
      at: null,
      step: isOverdue ? 'answer-overdue' : 'waiting-for-answer',
      text: isOverdue ? `${partner}'s ${answer} was due ${due}.` : `Waiting for ${partner}'s ${answer}, due ${due}.`,
      topic: null,
      partition: null,
      offset: null,
    },
  ];
}

const messageOf = ({ at, messageId, correlationId }: OrderEvent) => ({ at, messageId, correlationId });

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
