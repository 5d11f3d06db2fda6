import { isNativeError } from 'node:util/types';
import { AppError, messageOf } from '../../platform/errors';
import { connectionTrouble } from './connection-trouble';

/**
 * `refused`: certainly not written by this call. `unknown`: may be written, now or a moment later; send the same batch again
 * before anything else of its lane.
 */
export type PublishOutcome = 'unknown' | 'refused';

/**
 * Why a batch doesn't count as sent. Codes: `broker-unreachable`, `authentication-failed`, `not-authorized`, `topic-missing`,
 * `partition-missing`, `message-too-large`, `invalid-record`, `not-acknowledged` (timed out, too few replicas, leader moved),
 * `lane-busy` (a second send while one is outstanding), `publisher-closed`, and those of connection-trouble.ts.
 */
export class PublishError extends AppError {
  constructor(
    code: string,
    readonly outcome: PublishOutcome,
    readonly topic: string,
    readonly partition: number,
    detail: string,
    cause?: unknown,
  ) {
    super(code, `${topic}/${partition}: ${detail}`, { cause, retriable: !HOPELESS.has(code) });
  }
}

/** The same batch will never be taken: the broker judges its bytes, not the hour. */
const HOPELESS = new Set(['message-too-large', 'invalid-record']);

const PROTOCOL_CODES: Record<string, string> = {
  MESSAGE_TOO_LARGE: 'message-too-large',
  RECORD_LIST_TOO_LARGE: 'message-too-large',
  CORRUPT_MESSAGE: 'invalid-record',
  INVALID_RECORD: 'invalid-record',
  INVALID_TIMESTAMP: 'invalid-record',
  UNSUPPORTED_COMPRESSION_TYPE: 'invalid-record',
  UNSUPPORTED_FOR_MESSAGE_FORMAT: 'invalid-record',
  TOPIC_AUTHORIZATION_FAILED: 'not-authorized',
  CLUSTER_AUTHORIZATION_FAILED: 'not-authorized',
  UNKNOWN_TOPIC_OR_PARTITION: 'topic-missing',
  INVALID_TOPIC_EXCEPTION: 'topic-missing',
};

/** Names of what JavaScript throws when a record can't be encoded. */
const ENCODING_FAULTS = new Set(['TypeError', 'RangeError']);

const UNREACHABLE = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSBrokerNotFound',
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSLockTimeout',
  // What is left of it when it was no refusal: the connection ended meanwhile.
  'KafkaJSSASLAuthenticationError',
]);

/** kafkajs wraps what happened in "retries exceeded" and "non-retriable"; the innermost says it. */
export function rootOf(error: unknown): Error & { type?: string } {
  let current = isNativeError(error) ? error : new Error(messageOf(error));
  while (isNativeError(current.cause)) current = current.cause;
  return current;
}

/** A stable code for anything that kafkajs rejects with. */
export function codeOf(error: unknown): string {
  const trouble = connectionTrouble(error);
  if (trouble) return trouble.code;
  const root = rootOf(error);
  if (UNREACHABLE.has(root.name)) return 'broker-unreachable';
  if (root.type !== undefined) return PROTOCOL_CODES[root.type] ?? 'not-acknowledged';
  return ENCODING_FAULTS.has(root.name) ? 'invalid-record' : 'not-acknowledged';
}

/** What happened, in one sentence that says what to set where that is known. */
export const wordsOf = (error: unknown): string => connectionTrouble(error)?.detail ?? messageOf(rootOf(error));

/**
 * `stage` says whether a produce request may have left. One that did may be written although the last of the client's
 * attempts was refused for another reason, so only what is wrong with the batch itself counts as refused then.
 */
export function toPublishError(
  topic: string,
  partition: number,
  stage: 'before-send' | 'sending',
  error: unknown,
): PublishError {
  if (error instanceof PublishError) return error;
  const code = codeOf(error);
  const outcome = stage === 'before-send' || HOPELESS.has(code) ? 'refused' : 'unknown';
  return new PublishError(code, outcome, topic, partition, wordsOf(error), error);
}
