import { type Channel, ChannelCatalog } from '../../messaging/channels';
import type { Acl } from '../../messaging/kafka';
import type { Config } from '../../platform/config';
import type { Database } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { Accounts, liveOf, type NewAccount } from '../accounts';
import { comingAccount } from './actual';
import { channelsOf, desiredTopics, topicsOf } from './desired';
import { aclsOfAccount, aclsOfParley, quotaOf } from './domain/rights';
import { takenNotes } from './domain/security';
import { expectApplicable } from './partner-plan';
import type { PartnerSpec } from './partner-spec';

/** Served since Strimzi 0.49; before that the same resources were called v1beta2. */
const API_VERSION = 'kafka.strimzi.io/v1';

export interface StrimziParts {
  /** Name of the Kafka resource, which the operators find theirs by. */
  cluster: string;
  /** Of the partner: those that it has, and the one that comes. */
  accounts: readonly NewAccount[];
  /** undefined: Parley comes without an account. */
  parley: { username: string; consumerGroup: string } | undefined;
  /** Of all partners: an account has one list of rights. */
  channels: readonly Pick<Channel, 'topic' | 'direction'>[];
}

/** A Kubernetes resource, to be written as YAML. */
export interface StrimziResource {
  apiVersion: typeof API_VERSION;
  kind: 'KafkaTopic' | 'KafkaUser';
  metadata: { name: string; labels: Record<string, string> };
  spec: Record<string, unknown>;
}

/**
 * The same topics, rights and limits as resources of Strimzi, for clusters whose topics and users are kept in git. The password of an account is
 * made by Strimzi and stands in the Secret of its name. Throws `strimzi-subject-unfit`.
 */
export function strimziResources(spec: PartnerSpec, parts: StrimziParts): StrimziResource[] {
  const resource = (kind: StrimziResource['kind'], name: string, more: Record<string, unknown>): StrimziResource => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, labels: { 'strimzi.io/cluster': parts.cluster } },
    spec: more,
  });
  const topics = desiredTopics(spec).map(({ topic, partitions, replicationFactor, config }) =>
    resource('KafkaTopic', topic, { partitions, replicas: replicationFactor, config }),
  );
  const rights = topicsOf(channelsOf(spec));
  const users = parts.accounts.map(({ username, kind }) =>
    resource('KafkaUser', resourceName(username), {
      authentication: { type: kind === 'tls' ? 'tls-external' : 'scram-sha-512' },
      authorization: { type: 'simple', acls: aclsIn(aclsOfAccount(username, spec.partner, rights)) },
      quotas: quotaOf(spec),
    }),
  );
  const own = new Map([...parts.channels, ...channelsOf(spec)].map((channel) => [channel.topic, channel]));
  const all = topicsOf([...own.values()].toSorted((a, b) => (a.topic < b.topic ? -1 : 1)));
  const parley = parts.parley && [
    resource('KafkaUser', parts.parley.username, {
      authentication: { type: 'scram-sha-512' },
      authorization: {
        type: 'simple',
        acls: aclsIn(aclsOfParley(parts.parley.username, parts.parley.consumerGroup, all)),
      },
    }),
  ];
  return [...topics, ...users, ...(parley ?? [])];
}

/**
 * {@link strimziResources} with what the database knows: live accounts, the one that comes next, and the channels of all partners. Throws
 * `account-exists`, too: what is handed over here gives rights, before anything looks at it again.
 */
export async function strimziFor(
  database: Database,
  config: Pick<Config, 'kafkaSaslMechanism' | 'kafkaSaslUsername' | 'kafkaConsumerGroup'>,
  spec: PartnerSpec,
  cluster: string,
): Promise<StrimziResource[]> {
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  const all = await new Accounts(database).of(spec.partner);
  const { next, taken } = await comingAccount(database, spec, all);
  if (next) expectApplicable({ changes: [], notes: takenNotes(next, taken) });
  // One that is being made is known to nobody: it is the next one, or none.
  const live = liveOf(all).filter(({ state }) => state !== 'creating');
  return strimziResources(spec, {
    cluster,
    accounts: next ? [...live, next] : live,
    parley:
      config.kafkaSaslMechanism === ''
        ? undefined
        : { username: config.kafkaSaslUsername, consumerGroup: config.kafkaConsumerGroup },
    channels: catalog.all(),
  });
}

/** Strimzi names the principal of an own certificate `CN=<name of the resource>`. */
function resourceName(username: string): string {
  const name = username.replace(/^CN=/, '');
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name)) return name;
  throw new NonRetriableError('strimzi-subject-unfit', `Strimzi knows no account "${username}".`, {
    hint: 'With Strimzi the subject of a certificate is CN=<name>, of lower-case letters, digits, dots and dashes.',
  });
}

/** One entry a resource, with its operations. */
function aclsIn(acls: readonly Acl[]): object[] {
  const byResource = Map.groupBy(acls, ({ resource, name, pattern }) => JSON.stringify([resource, name, pattern]));
  return [...byResource.values()].map((some) => {
    const [{ resource, name, pattern }] = some as [Acl];
    return {
      resource: { type: resource, name, patternType: pattern === 'prefixed' ? 'prefix' : 'literal' },
      operations: some.map(({ operation }) => operation),
      host: '*',
    };
  });
}
