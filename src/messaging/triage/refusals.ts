import { NonRetriableError, type Violation } from '../../platform/errors';

// What staff are refused, and what to do next.

export const parkedUnknown = (): NonRetriableError =>
  new NonRetriableError('parked-unknown', 'There is no parked message with this id.');

export const parkedNotDead = (state: string): NonRetriableError =>
  new NonRetriableError('parked-not-dead', `It is no dead letter; it is ${state}.`, {
    hint: 'GET it shows what became of it.',
  });

export const contentMasked = (id: string): NonRetriableError =>
  new NonRetriableError('content-masked', 'The bytes may hold personal data.', {
    hint: `POST /v1/dead-letters/${id}/value/unmasking with a reason gives them, and is audited.`,
  });

export const contentSecret = (): NonRetriableError =>
  new NonRetriableError(
    'content-secret',
    'The message carries a secret of whoever it is for, which is shown to nobody.',
    {
      hint: 'Have the system that sent it make a new one.',
    },
  );

export const editUnknown = (): NonRetriableError =>
  new NonRetriableError('edit-unknown', 'This message has no edit with this id.');

export const notMendable = (): NonRetriableError =>
  new NonRetriableError('edit-impossible', 'The record names none of the documents that partners send.', {
    hint: 'A new document would not make it one: discard it, and have the partner send it as what it is.',
  });

export const editInvalid = (contract: string, violation: Violation): NonRetriableError =>
  new NonRetriableError('edit-invalid', `The edited ${contract}: ${violation.pointer} ${violation.detail}.`, {
    violations: [violation],
  });

export const groupUnknown = (): NonRetriableError =>
  new NonRetriableError('group-unknown', 'No dead letter of this fingerprint is kept.');

export const groupOfAllPartners = (): NonRetriableError =>
  new NonRetriableError(
    'forbidden',
    'Assignee and note of a cause are those of all partners; a caller that is confined to some neither sees nor changes them.',
    { hint: 'Ask somebody who may see all partners.' },
  );

export const topicUnknown = (): NonRetriableError =>
  new NonRetriableError('topic-unknown', 'There is no channel with this topic.');
