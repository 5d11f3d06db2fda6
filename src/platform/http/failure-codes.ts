import type { ProblemCode } from './problem-codes';

/** Codes of what staff do about messages that failed. */
export const FAILURE_CODES: Readonly<Record<string, ProblemCode>> = {
  'edit-own': {
    status: 403,
    title: 'Nobody agrees to an edit of their own',
    help: 'DEAD_LETTER_APPROVAL is set: a second person, with a key of their own, approves or refuses it.',
  },
  'content-masked': {
    status: 403,
    title: 'The content is shown only for a reason',
    help: 'It may hold personal data: its document has some, or nobody can tell since it cannot be read. POST …/unmasking with {"reason"} shows it; who saw what, and why, is in the audit.',
  },
  'content-secret': {
    status: 409,
    title: 'What it says is shown to nobody',
    help: 'The message carries a secret of whoever it is for, such as a code. It is shown to nobody, staff included. "code", "detail" and "pointer" say what is wrong with it; have the system that sent it make a new one.',
  },
  'parked-unknown': {
    status: 404,
    title: 'There is no such message',
    help: 'GET /v1/dead-letters and GET /v1/parked list the messages that failed. Resolved ones are deleted after DEAD_LETTER_RETENTION_DAYS.',
  },
  'edit-unknown': {
    status: 404,
    title: 'The message has no such edit',
    help: 'GET the message lists its edits.',
  },
  'group-unknown': {
    status: 404,
    title: 'There is no such group',
    help: 'GET /v1/dead-letter-groups?state=all lists the causes of which a dead letter is kept.',
  },
  'topic-unknown': {
    status: 404,
    title: 'There is no such channel',
    help: 'GET /v1/channels lists the topics of partners.',
  },
  'parked-not-dead': {
    status: 409,
    title: 'The message is no dead letter',
    help: 'A retry, a replay or somebody else was faster. GET it shows what became of it.',
  },
  'parked-not-discarded': {
    status: 409,
    title: 'The message is not discarded',
    help: 'Only what was discarded can be restored. GET it shows what became of it.',
  },
  'parked-not-waiting': {
    status: 409,
    title: 'The message does not wait for an attempt',
    help: 'A held one follows the message before it, a dead one takes a replay. GET /v1/dead-letters/{id} shows where it stands.',
  },
  'edit-decided': {
    status: 409,
    title: 'Somebody has decided about the edit',
    help: 'An edit is decided once. Make another one if the document is still not right.',
  },
  'edit-impossible': {
    status: 409,
    title: 'A new document would not help',
    help: 'The record does not say, in ce_type, that it is a document that partners send. Discard it, and have the partner send it as what it is.',
  },
  'channel-outbound': {
    status: 409,
    title: 'The channel is not read',
    help: 'Only topics that a partner writes can be paused here. What we write is parked by lane.',
  },
  'channel-paused': {
    status: 409,
    title: 'The channel is paused already',
    help: 'It stays so for the first reason. GET /v1/channels shows why; resume it first to pause it for another one.',
  },
  'channel-not-paused': {
    status: 409,
    title: 'The channel is not paused',
    help: 'It is being read. GET /v1/channels shows which ones are not.',
  },
  'edit-invalid': {
    status: 422,
    title: 'The edited document breaks a rule',
    help: '"errors" says where and which: the contract of the document, its key, which must stay the record\'s, or that it changes nothing.',
  },
};
