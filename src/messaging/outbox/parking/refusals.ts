import { NonRetriableError } from '../../../platform/errors';
import type { ParkedOutbound, ParkedState } from './parked-list';

// What staff are refused, and what to do next.

/** @param partition as it was asked for */
export const laneNotParked = (topic: string, partition: number | string): NonRetriableError =>
  new NonRetriableError('lane-not-parked', `No lane ${topic}/${partition} is parked.`, {
    hint: 'GET /v1/outbox lists those that are; one that only fails is tried again by itself.',
  });

export const laneStopped = (topic: string, state: 'paused' | 'suspended', partner: string): NonRetriableError =>
  new NonRetriableError(`lane-${state}`, `The partner of ${topic} is ${state}, so nothing is sent to it.`, {
    hint: `Resume ${partner}: then what waits is sent in order.`,
  });

export const outboundUnknown = (): NonRetriableError =>
  new NonRetriableError('outbound-unknown', 'No outbound message with this number is parked.', {
    hint: 'GET /v1/outbox/parked lists those that are; one that is sent is in the timeline of its order.',
  });

export const outboundNotDead = ({ state, topic, partition }: ParkedOutbound): NonRetriableError =>
  new NonRetriableError('outbound-not-dead', `It is no dead letter; it is ${state}.`, {
    hint: NEXT[state](`${topic}/${partition}`),
  });

const NEXT: Readonly<Record<ParkedState, (lane: string) => string>> = {
  waiting: (lane) => `It goes out with its lane: retry ${lane}.`,
  held: () => 'It goes out behind the dead letter of its key: retry or discard that one.',
  retrying: () => 'It is being sent: GET /v1/outbox/parked shows whether it is refused again.',
  discarded: () => 'It is given up for good, and what stood behind it goes on.',
  dead: () => 'It is one now: try again.',
};
