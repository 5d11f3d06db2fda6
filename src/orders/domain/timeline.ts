import type { ParkedMessage } from '../../messaging/consumer';
import { OPEN_STATES, type Order, type StepType } from './order';

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
  detail: { reason?: string; late?: true; lines?: readonly unknown[] } | null;
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
  const steps = events.flatMap((event) =>
    event.outboxSeq === null
      ? [received(order, event)]
      : [own(order, event), publication(event, places.get(event.outboxSeq))],
  );
  steps.push(...parked.map((message) => unapplied(order, message)));
  const request = events.find((event) => event.outboxSeq !== null);
  const isPublished = request?.outboxSeq != null && places.has(request.outboxSeq);
  if (request && isPublished && OPEN_STATES.includes(order.state)) steps.push(awaited(order, request, now));
  return steps;
}

const own = (order: Order, event: OrderEvent): TimelineStep => ({
  ...messageOf(event),
  step: event.type,
  text: `Order placed with ${order.partner}: ${count(order.lines.length, 'line')}, ${order.currency}.`,
  topic: null,
  partition: null,
  offset: null,
});

function publication(event: OrderEvent, place: Place | undefined): TimelineStep {
  const { topic, partition } = event;
  if (!place) {
    const text = 'The order waits to be published.';
    return { ...messageOf(event), at: null, step: 'waiting-to-be-published', text, topic, partition, offset: null };
  }
  const { sentAt: at, offset } = place;
  return { ...messageOf(event), at, step: 'published', text: 'The order is in Kafka.', topic, partition, offset };
}

const WORDS: Readonly<Record<StepType, string>> = {
  placed: 'placed the order',
  acknowledged: 'acknowledged the order; its final answer is still to come',
  accepted: 'accepted the order',
  rejected: 'rejected the order',
  changed: 'accepted the order with changes',
  cancelled: 'agreed to cancel the order',
  'partly-shipped': 'despatched a part of the order',
  shipped: 'despatched the order, or what was left of it',
  'cancellation-requested': 'was asked to cancel the order',
  'cancellation-agreed': 'agreed to the cancellation; the order was rejected before',
  'cancellation-refused': 'refused the cancellation',
  'answer-noted': 'answered the order after the cancellation, which changes nothing',
  'despatch-refused': 'announced a despatch that was refused',
};

function received(order: Order, event: OrderEvent): TimelineStep {
  const { reason, late, lines } = event.detail ?? {};
  const changes = lines ? ` (${count(lines.length, 'line')})` : '';
  const text = `${order.partner} ${WORDS[event.type]}${changes}${late ? ', after the deadline' : ''}${reason ? `: ${reason}` : '.'}`;
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

function awaited(order: Order, request: OrderEvent, now: Date): TimelineStep {
  const isOverdue = order.deadline < now;
  const due = order.deadline.toISOString();
  return {
    ...messageOf(request),
    at: null,
    step: isOverdue ? 'answer-overdue' : 'waiting-for-answer',
    text: isOverdue
      ? `${order.partner}'s final answer was due ${due}.`
      : `Waiting for ${order.partner}'s final answer, due ${due}.`,
    topic: null,
    partition: null,
    offset: null,
  };
}

const messageOf = ({ at, messageId, correlationId }: OrderEvent) => ({ at, messageId, correlationId });

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
