import { AppError, messageOf } from '../../platform/errors';
import { type ConnectionTrouble, connectionTrouble, leaves } from './connection-trouble';

interface BrokerWord {
  apiId?: string;
  serverErrorMessage?: string | null;
}

/** Does the broker say so, somewhere in there? `id` is Kafka's own name, such as `TOPIC_ALREADY_EXISTS`. */
export const brokerSays = (error: unknown, id: string): boolean =>
  [...leaves(error)].some((leaf) => (leaf as BrokerWord).apiId === id);

/** The client turns the broker's word for it into one of its own. */
export const isTopicMissing = (error: unknown): boolean =>
  brokerSays(error, 'UNKNOWN_TOPIC_OR_PARTITION') ||
  [...leaves(error)].some(({ message }) => message.startsWith('Unknown topic '));

const CODES: Record<string, string> = {
  TOPIC_AUTHORIZATION_FAILED: 'not-authorized',
  CLUSTER_AUTHORIZATION_FAILED: 'not-authorized',
  GROUP_AUTHORIZATION_FAILED: 'not-authorized',
  INVALID_REPLICATION_FACTOR: 'replication-factor-invalid',
  INVALID_PARTITIONS: 'partition-count-invalid',
  INVALID_CONFIG: 'topic-config-invalid',
  INVALID_TOPIC_EXCEPTION: 'topic-name-invalid',
  POLICY_VIOLATION: 'topic-policy-violated',
  SECURITY_DISABLED: 'security-disabled',
};

const HINTS: Record<string, string> = {
  'security-disabled': 'Give the broker an authorizer (authorizer.class.name), or run without KAFKA_SASL_MECHANISM.',
};

export interface AdminErrorContext {
  /** What to do where the account may not. */
  right?: string | undefined;
  /** What a connection met, where the call itself heard only that it closed. */
  trouble?: ConnectionTrouble | undefined;
}

/** A clear error for a failed administration call: what was tried, what the broker said, a stable code. */
export function toAdminError(doing: string, error: unknown, context: AdminErrorContext = {}): AppError {
  if (error instanceof AppError) return error;
  if (isTopicMissing(error))
    return new AppError('topic-missing', `Could not ${doing}: it does not exist`, { cause: error });
  const all = [...leaves(error)];
  const word = all.find((leaf) => (leaf as BrokerWord).apiId !== undefined);
  const trouble = connectionTrouble(error) ?? (word ? undefined : context.trouble);
  if (trouble) return new AppError(trouble.code, `Could not ${doing}: ${trouble.detail}`, { cause: error });
  if (!word) {
    return new AppError('broker-unreachable', `Could not ${doing}: ${messageOf(all[0] ?? error)}`, { cause: error });
  }
  const { apiId = '', serverErrorMessage } = word as BrokerWord;
  const code = CODES[apiId] ?? 'broker-refused';
  const hint = code === 'not-authorized' ? context.right : HINTS[code];
  return new AppError(code, `Could not ${doing}: ${serverErrorMessage ?? word.message} (${apiId})`, {
    cause: error,
    retriable: code === 'broker-refused',
    ...(hint === undefined ? {} : { hint }),
  });
}
