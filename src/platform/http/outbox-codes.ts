import type { ProblemCode } from './problem-codes';

/** Codes of what staff do about messages that can't be sent. */
export const OUTBOX_CODES: Readonly<Record<string, ProblemCode>> = {
  'lane-not-parked': {
    status: 404,
    title: 'The lane is not parked',
    help: 'GET /v1/outbox lists the parked lanes. One that fails and is not parked yet is tried every few seconds by itself.',
  },
  'outbound-unknown': {
    status: 404,
    title: 'There is no such outbound message',
    help: 'GET /v1/outbox/parked lists the outbound messages that wait. One that is sent is in the timeline of its order.',
  },
  'lane-suspended': {
    status: 409,
    title: 'The partner is suspended',
    help: 'Its messages wait and are sent in order when the partner is active again: POST /v1/partners/{id}/resumption, or "parley partner resume <id>".',
  },
  'lane-paused': {
    status: 409,
    title: 'The partner is paused',
    help: 'Its messages wait and are sent in order when the partner is active again: POST /v1/partners/{id}/resumption, or "parley partner resume <id>".',
  },
  'outbound-not-dead': {
    status: 409,
    title: 'The outbound message is no dead letter',
    help: 'What waits for its lane or behind another message goes out by itself; retry the lane, or the message that it stands behind.',
  },
};
