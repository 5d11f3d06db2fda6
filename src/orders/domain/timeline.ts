import type { ParkedMessage } from '../../messaging/consumer';
import type { ParkedOutbound } from '../../messaging/outbox';
import { awaited, type AwaitedExchange } from './awaited';
import type { NotifiedStep } from './notified';
import type { Order, OrderEventDetail, StepType } from './order';
import { type Standing, stopped } from './stopped';
import { unapplied } from './unapplied';
import { count, spanInWords } from './words';

/** Something that happened to an order and is recorded, with the message that caused it or that it caused. */
export interface OrderEvent {
  type: StepType;
  at: Date;
  messageId: string;
  correlationId: string;
  /** Set when the message is ours: its number in the outbox. */
  outboxSeq: string | null;
  /** Null where no record caused the step. */
  topic: string | null;
  partition: number | null;
  /** Set when the message is the partner's. */
  offset: string | null;
  detail: OrderEventDetail | null;
}

export type StepName =
  | StepType
  | 'published'
  | 'waiting-to-be-published'
  | 'not-published'
  | 'answer-waits'
  | 'answer-held'
  | 'answer-refused'
  | 'partner-paused'
  | 'partner-suspended'
  | 'waiting-for-answer'
  | 'answer-due'
  | 'answer-overdue'
  | NotifiedStep;

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

/** What is known of an order's messages. */
export interface Messages {
  /** Ours that are in Kafka, by outbox number. */
  places: ReadonlyMap<string, Place>;
  /** Ours that the relay could not publish, by outbox number. */
  unpublished: ReadonlyMap<string, Unpublished>;
  /** What keeps others of ours from being sent, in a sentence, by outbox number. */
  delays: ReadonlyMap<string, string>;
  /** Outbox numbers of those that were settled so long ago that the outbox keeps nothing of them. */
  dropped: ReadonlySet<string>;
  /** The partner's that are parked. */
  parked: readonly ParkedMessage[];
  /** Our requests, with what decides whether they can be judged. */
  requests: readonly AwaitedExchange[];
  /** How the partner stands; left out: active. */
  standing?: Standing;
}

export type Unpublished = Pick<ParkedOutbound, 'seq' | 'state' | 'detail' | 'discardReason' | 'discardedAt'>;

/** The story of an order in order: what happened, where its messages are, and what is waited for. */
export function timelineOf(
  order: Order,
  events: readonly OrderEvent[],
  { places, unpublished, delays, dropped, parked, requests, standing }: Messages,
  now: Date,
): TimelineStep[] {
  const steps = events.flatMap((event) => {
    const message = sentBy(event);
    const happened = OWN[event.type] ? own(order, event) : received(order, event);
    if (!message) return [happened];
    const { seq } = message;
    if (dropped.has(seq)) return [happened, forgotten(event, message)];
    return [happened, publication(event, message, places.get(seq), unpublished.get(seq) ?? delays.get(seq))];
  });
  for (const message of parked) {
    const { parkedAt: at, messageId, correlationId, topic, partition, offset } = message;
    const said = unapplied(order.partner, message, now, standing);
    if (said) steps.push({ at, ...said, messageId, correlationId, topic, partition, offset });
  }
  const awaitedSteps = requests.flatMap((request): TimelineStep[] => {
    const { requestMessageId: messageId, correlationId } = request.exchange;
    const said = awaited(request, now, standing);
    return said ? [{ at: null, ...said, messageId, correlationId, ...NO_PLACE }] : [];
  });
  const waits = awaitedSteps.length > 0 || parked.length > 0 || steps.some(({ at }) => at === null);
  const stop = waits ? stopped(standing) : undefined;
  if (stop) steps.push({ ...stop, messageId: null, correlationId: null, ...NO_PLACE });
  return [...steps, ...awaitedSteps];
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
  if (seq !== null && topic !== null && partition !== null)
    return { messageId, seq, topic, partition, what: WHAT[type] ?? 'The order' };
  return detail?.reply && { ...detail.reply, what: 'Our answer' };
}

const WHAT: Partial<Record<StepType, string>> = {
  'cancellation-requested': 'The cancellation',
  'sent-again': 'The message that was sent again',
};

/** Steps of our own, in words. */
const OWN: Partial<Record<StepType, (order: Order, event: OrderEvent) => string>> = {
  placed: ({ partner, lines, currency }, { detail }) =>
    `Order placed with ${partner}${detail?.by ? ` by ${detail.by} (${detail.caller ?? 'unknown'})` : ''}: ${count(lines.length, 'line')}, ${currency}.`,
  'cancellation-requested': ({ partner }, { detail }) => `${partner} is asked to cancel the order: ${reasonOf(detail)}`,
  'sent-again': ({ partner }, { at, detail }) => {
    const { resend, due } = detail ?? {};
    const again = resend ? ` (${resend.times} of ${resend.of})` : '';
    const until = due ? `, due in ${spanInWords(Date.parse(due) - at.getTime())}` : '';
    return `${partner} had not answered in time: sent again${again} under the same id${until}.`;
  },
  overdue: ({ partner }, { detail }) => `${partner}'s answer is overdue: ${reasonOf(detail)}.`,
  withdrawn: ({ partner }, { detail }) =>
    `${detail?.by ?? 'Staff'} stopped waiting for ${partner}'s answer: ${reasonOf(detail)}`,
};

const reasonOf = (detail: OrderEventDetail | null): string => detail?.reason ?? 'no reason recorded';

const own = (order: Order, event: OrderEvent): TimelineStep => ({
  ...messageOf(event),
  step: event.type,
  text: OWN[event.type]?.(order, event) ?? event.type,
  ...NO_PLACE,
});

function publication(
  event: OrderEvent,
  message: Sent,
  place: Place | undefined,
  waits: Unpublished | string | undefined,
): TimelineStep {
  const { messageId, topic, partition, what } = message;
  const sent = { ...messageOf(event), messageId, topic, partition };
  if (!place) {
    const at = typeof waits === 'object' ? waits.discardedAt : null;
    const step = at === null ? 'waiting-to-be-published' : 'not-published';
    return { ...sent, at, step, text: `${what} ${unpublishedBecause(waits)}`, offset: null };
  }
  const { sentAt: at, offset } = place;
  return { ...sent, at, step: 'published', text: `${what} is in Kafka.`, offset };
}

/** Retention drops what was settled, its receipt too. */
function forgotten(event: OrderEvent, { messageId, topic, partition, what }: Sent): TimelineStep {
  const text = `${what} was sent, or discarded by staff; its place in Kafka is kept no more.`;
  return { ...messageOf(event), messageId, at: event.at, step: 'published', text, topic, partition, offset: null };
}

/** The reasons of lanes and dead letters are sentences. */
function unpublishedBecause(waits: Unpublished | string | undefined): string {
  if (waits === undefined) return 'waits to be published.';
  if (typeof waits === 'string') return `waits to be published: ${waits}`;
  const { seq, state, detail, discardReason } = waits;
  if (state === 'discarded')
    return `was discarded by staff and is never sent: ${discardReason ?? 'no reason recorded'}`;
  if (state === 'dead') return `is refused by the broker and is kept as outbound dead letter ${seq}: ${detail}`;
  return `waits to be published: ${detail}`;
}

/** What the partner did. */
const WORDS: Partial<Record<StepType, string>> = {
  acknowledged: 'acknowledged the order; its final answer is still to come',
  accepted: 'accepted the order',
  rejected: 'rejected the order',
  changed: 'accepted the order with changes',
  cancelled: 'cancelled the order, as it was asked to',
  'partly-shipped': 'despatched a part of the order',
  shipped: 'despatched all of the order, or the rest of it',
  'cancellation-agreed': 'agreed to cancel the order, which it had rejected before',
  'cancellation-refused': 'refused to cancel the order',
  'answer-noted': 'answered the order after it had cancelled it, which changes nothing',
  'despatch-refused': 'announced a despatch, which was refused',
};

function received(order: Order, event: OrderEvent): TimelineStep {
  const { reason, late, unawaited, lines, code, documentNumber } = event.detail ?? {};
  const when = late ? ', after the deadline' : unawaited ? ', though nobody waited for it any more' : '';
  const document = documentNumber === undefined ? '' : ` (${documentNumber})`;
  const said = code === undefined ? '' : ` (${code})`;
  const changes = lines ? ` (${count(lines.length, 'line')})` : '';
  const text = `${order.partner} ${WORDS[event.type] ?? event.type}${document}${said}${changes}${when}${reason ? `: ${reason}` : '.'}`;
  return {
    ...messageOf(event),
    step: event.type,
    text,
    topic: event.topic,
    partition: event.partition,
    offset: event.offset,
  };
}

const messageOf = ({ at, messageId, correlationId }: OrderEvent) => ({ at, messageId, correlationId });

export const NO_PLACE = { topic: null, partition: null, offset: null };
