import type { ProblemCode } from './problem-codes';

/** Codes of what staff do about partners as a whole. */
export const PARTNER_CODES: Readonly<Record<string, ProblemCode>> = {
  'partner-not-found': {
    status: 404,
    title: 'There is no such partner',
    help: 'GET /v1/partners lists them; a key that is confined to some partners sees those alone.',
  },
  'partner-suspended': {
    status: 409,
    title: 'The partner is suspended',
    help: 'What it sends is kept and not applied; it is tried, in order, when the partner is resumed: POST /v1/partners/{id}/resumption, or "parley partner resume <id>".',
  },
  'partner-state': {
    status: 409,
    title: 'The partner does not stand where that is possible',
    help: 'An active partner can be paused or suspended, a paused one suspended or resumed, a suspended one resumed: pausing that one would apply what it has sent. GET /v1/partners/{id} shows how it stands.',
  },
};
