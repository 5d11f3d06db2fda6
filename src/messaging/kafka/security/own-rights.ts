import { type Connection, metadataV12 } from '@platformatic/kafka';
import { brokerSays } from '../admin-error';
import type { KafkaSettings } from '../client-settings';
import type { AclOperation } from '../security-types';
import { OPERATIONS } from './acls';
import { SecurityClient } from './security-client';

/** What the account that we run under may do, by the broker's own word: nobody needs an administrator to ask. */
export interface OwnRights {
  /** By topic; empty where we may not even see it. A topic that we could see and that is not there is not in the map. */
  onTopics(names: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<AclOperation>>>;
  /** Of a consumer group, which need not exist. */
  onGroup(name: string): Promise<ReadonlySet<AclOperation>>;
  close(): Promise<void>;
}

/** Asks over a client of its own, connected at the first call. A broker without authorizer lets everybody do everything, and says so. */
export function createOwnRights(settings: KafkaSettings): OwnRights {
  const client = new SecurityClient(settings);
  return {
    onTopics: (names) =>
      client.asked('ask what we may do with topics', 'Describe on them', () =>
        client.onOne((broker) => onTopics(broker, names)),
      ),
    onGroup: (name) =>
      client.asked(`ask what we may do with group ${name}`, `Describe on group ${name}`, async () => {
        try {
          const groups = await client.admin.describeGroups({ groups: [name], includeAuthorizedOperations: true });
          return operationsIn(groups.get(name)?.authorizedOperations ?? 0);
        } catch (error) {
          if (brokerSays(error, 'GROUP_AUTHORIZATION_FAILED')) return operationsIn(0);
          throw error;
        }
      }),
    close: () => client.close(),
  };
}

const MISSING = 3;

async function onTopics(
  broker: Connection,
  names: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<AclOperation>>> {
  // Of no names it would tell all that there are.
  if (names.length === 0) return new Map();
  const { topics } = await metadata(broker, names);
  return new Map(
    topics.flatMap(({ name, errorCode, topicAuthorizedOperations }) =>
      !name || errorCode === MISSING
        ? []
        : [[name, operationsIn(errorCode === 0 ? topicAuthorizedOperations : 0)] as const],
    ),
  );
}

/** The client throws where one topic is refused; the answer about the others comes with the error. */
async function metadata(broker: Connection, names: readonly string[]): Promise<metadataV12.MetadataResponse> {
  try {
    return await metadataV12.api.async(broker, [...names], false, true);
  } catch (error) {
    const { response } = error as { response?: metadataV12.MetadataResponse };
    if (response?.topics) return response;
    throw error;
  }
}

/** Kafka's bit field: bit n is operation n. Negative where the broker tells nothing. */
const operationsIn = (bits: number): ReadonlySet<AclOperation> =>
  new Set(
    bits < 0
      ? []
      : (Object.entries(OPERATIONS) as [AclOperation, number][])
          .filter(([, operation]) => (bits & (1 << operation)) !== 0)
          .map(([name]) => name),
  );
