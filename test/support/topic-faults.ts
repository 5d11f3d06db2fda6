import {
  type Acl,
  AclOperations,
  AclPermissionTypes,
  type Admin,
  ConfigResourceTypes,
  ConfigSources,
  IncrementalAlterConfigOperationTypes,
  ResourcePatternTypes,
  ResourceTypes,
} from '@platformatic/kafka';
import type { KafkaServer } from '../../scripts/servers/index.mjs';
import { type Heal, healing, kill } from './faults';
import { createTopic, deleteTopic, produce, type RecordToProduce, withAdmin } from './kafka';

/** Sets one setting of a topic; healing puts back what was set before, or takes it away. */
export async function setOnTopic(topic: string, name: string, value: string, brokers?: string): Promise<Heal> {
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic };
  const { SET, DELETE } = IncrementalAlterConfigOperationTypes;
  const change = (to: string | undefined) =>
    withAdmin(brokers, (admin) =>
      admin.incrementalAlterConfigs({
        resources: [
          {
            ...resource,
            configs: [to === undefined ? { name, configOperation: DELETE } : { name, configOperation: SET, value: to }],
          },
        ],
      }),
    );
  const before = (await ownSettings(topic, brokers)).get(name);
  const heal = healing(() => change(before));
  await change(value);
  return heal;
}

/**
 * Nobody can write to the topic (NOT_ENOUGH_REPLICAS), whose copies are on all brokers: one of them is killed, and this topic
 * alone demands all. What needs fewer copies flows on. A single broker can't show it: it never demands more copies than there are.
 */
export async function makeReadOnly(topic: string, cluster: KafkaServer): Promise<Heal> {
  const { brokers, pids } = cluster;
  const settle = await setOnTopic(topic, 'min.insync.replicas', String(pids.length), brokers);
  const restart = await kill(cluster, pids.length - 1);
  return healing(() => restart().then(settle));
}

/** Healing makes it anew under its name, with the same partitions and settings, and empty: offsets begin at 0 again. */
export async function removeTopic(topic: string, brokers?: string): Promise<Heal> {
  const config = Object.fromEntries(await ownSettings(topic, brokers));
  const partitions = await withAdmin(
    brokers,
    async (admin) =>
      (await admin.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)?.partitionsCount ?? 1,
  );
  const heal = healing(() => createTopic(topic, { exact: true, partitions, config, ...(brokers ? { brokers } : {}) }));
  await deleteTopic(topic, brokers);
  return heal;
}

/** Records that nobody has read yet: `make(n)` for n from 0, in requests of 500. */
export async function fillLag(
  topic: string,
  count: number,
  make: (n: number) => RecordToProduce,
  brokers?: string,
): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const size = Math.min(500, count - done);
    await produce(
      topic,
      Array.from({ length: size }, (_, index) => make(done + index)),
      brokers,
    );
  }
}

/** A right of an account on a guarded broker (`startKafka({ secure: true })`). */
export const right = (
  account: string,
  resource: keyof typeof ResourceTypes,
  resourceName: string,
  operation: keyof typeof AclOperations,
): Acl => ({
  resourceType: ResourceTypes[resource],
  resourceName,
  resourcePatternType: ResourcePatternTypes.LITERAL,
  principal: `User:${account}`,
  host: '*',
  operation: AclOperations[operation],
  permissionType: AclPermissionTypes.ALLOW,
});

/** Takes rights away, with an administrator's client; healing gives them back. */
export async function revoke(admin: Admin, ...rights: Acl[]): Promise<Heal> {
  const heal = healing(() => admin.createAcls({ creations: rights }));
  await admin.deleteAcls({ filters: rights });
  return heal;
}

/** What is set on the topic itself, without the broker's defaults. */
async function ownSettings(topic: string, brokers?: string): Promise<Map<string, string>> {
  const described = await withAdmin(brokers, (admin) =>
    admin.describeConfigs({ resources: [{ resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }] }),
  );
  const own = described.flatMap(({ configs }) =>
    configs.filter(({ configSource }) => configSource === ConfigSources.DYNAMIC_TOPIC_CONFIG),
  );
  return new Map(own.flatMap(({ name, value }) => (value === null || value === undefined ? [] : [[name, value]])));
}
