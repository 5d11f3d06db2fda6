import { ConfigResourceTypes, ListOffsetTimestamps } from '@platformatic/kafka';
import { AppError } from '../../platform/errors';
import { sleep } from '../../platform/polling';
import { AdminClient } from './admin-client';
import { brokerSays } from './admin-error';
import type { KafkaSettings } from './client-settings';

export interface TopicPlan {
  topic: string;
  partitions: number;
  replicationFactor: number;
  /** Topic configuration, such as `max.message.bytes`; what is not named keeps the broker's default. */
  config?: Readonly<Record<string, string>>;
}

export interface TopicDescription {
  topic: string;
  partitions: number;
  /** Copies of each partition; of the one that has the fewest where they differ. */
  replicas: number;
  /** The broker applies it to each (compressed) batch. Undefined where we may not read the configuration. */
  maxMessageBytes: number | undefined;
  /**
   * How long a record may stay: a segment goes as a whole, when its newest record is past `retention.ms`, and takes new ones for up to
   * `segment.ms`. Infinity: for ever. Undefined where we may not read the configuration.
   */
  keepsMs: number | undefined;
  /** How long it stays at least: `retention.ms`. Infinity: for ever. Undefined as above. */
  retentionMs: number | undefined;
}

const READ = ['max.message.bytes', 'retention.ms', 'segment.ms', 'cleanup.policy'] as const;
type TopicConfig = Record<(typeof READ)[number], string>;

function keepsMs({ 'retention.ms': retention, 'segment.ms': segment, 'cleanup.policy': policy }: TopicConfig): number {
  return retentionMs({ 'retention.ms': retention, 'cleanup.policy': policy }) + Number(segment);
}

/** A compacted topic loses a record sooner where a newer one has its key: that is not time's doing. */
function retentionMs({
  'retention.ms': retention,
  'cleanup.policy': policy,
}: Pick<TopicConfig, 'retention.ms' | 'cleanup.policy'>): number {
  return retention === '-1' || !policy.includes('delete') ? Infinity : Number(retention);
}

/** How far a consumer group has come in a partition. */
export interface PartitionProgress {
  /** First offset that the broker still keeps. */
  start: bigint;
  /** The offset that the next record will get. */
  end: bigint;
  /** The offset that the group reads next; null where it has committed none. */
  committed: bigint | null;
}

/** Verbs of administration. Every method rejects with an AppError: `broker-unreachable`, `authentication-failed`, `not-authorized`, `topic-missing`, … */
export interface KafkaAdmin {
  /** Creates what is missing, waits until it can be used, and resolves with those names; never alters a topic that is there. */
  ensureTopics(plans: readonly TopicPlan[]): Promise<string[]>;
  /** By name; a topic that is missing (or that we may not see) is not in the map. */
  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, TopicDescription>>;
  /** Those of the names that exist, as far as we may see them; needs no right to read configurations. */
  existing(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** By partition: the offset that the next record will get. Rejects with `topic-missing`. */
  endOffsets(topic: string): Promise<ReadonlyMap<number, bigint>>;
  /** By topic and partition; topics that are missing are left out. The ends are asked first: what a group has read beyond them was written since. */
  groupProgress(
    group: string,
    topics: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<number, PartitionProgress>>>;
  close(): Promise<void>;
}

const READY_TIMEOUT_MS = 10_000;
const READY_INTERVAL_MS = 25;

/** Administration over a client of its own, connected at the first call. */
export function createKafkaAdmin(settings: KafkaSettings): KafkaAdmin {
  return new PlatformaticAdmin(new AdminClient(settings, 'admin'));
}

class PlatformaticAdmin implements KafkaAdmin {
  constructor(private readonly client: AdminClient) {}

  async ensureTopics(plans: readonly TopicPlan[]): Promise<string[]> {
    const existing = await this.describeTopics(plans.map((plan) => plan.topic));
    const missing = plans.filter((plan) => !existing.has(plan.topic));
    const created = await Promise.all(missing.map((plan) => this.create(plan)));
    await this.ready(missing.map((plan) => plan.topic));
    return created.filter((name) => name !== undefined);
  }

  /** The controller answers before the brokers lead the partitions, and what is written in between is turned away. */
  private async ready(topics: readonly string[]): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (const topic of topics) {
      while (!(await this.led(topic))) {
        if (Date.now() > deadline) throw new AppError('topic-not-ready', `Topic ${topic} is created, but not led yet.`);
        await sleep(READY_INTERVAL_MS);
      }
    }
  }

  private async led(topic: string): Promise<boolean> {
    try {
      return (await this.endOffsets(topic)).size > 0;
    } catch (error) {
      // Whoever may create a topic need not be allowed to look at it.
      return (error as AppError).code === 'not-authorized';
    }
  }

  /** One topic a call: the client applies a call's configuration to all of its topics. */
  private async create(plan: TopicPlan): Promise<string | undefined> {
    const { topic, partitions, replicationFactor: replicas } = plan;
    const configs = Object.entries(plan.config ?? {}).map(([name, value]) => ({ name, value }));
    return this.client.asked(`create topic ${topic}`, async () => {
      try {
        await this.client.admin.createTopics({ topics: [{ topic, partitions, replicas }], configs });
        return topic;
      } catch (error) {
        if (brokerSays(error, 'TOPIC_ALREADY_EXISTS')) return undefined;
        throw error;
      }
    });
  }

  existing(names: readonly string[]): Promise<ReadonlySet<string>> {
    return this.client.asked('list topics', async () => {
      if (names.length === 0) return new Set<string>();
      const visible = new Set(await this.client.admin.listTopics({ includeInternals: true }));
      return new Set(names.filter((name) => visible.has(name)));
    });
  }

  async describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, TopicDescription>> {
    const topics = [...(await this.existing(names))];
    if (topics.length === 0) return new Map();
    return this.client.asked('describe topics', async () => {
      const metadata = await this.client.admin.metadata({ topics, forceUpdate: true });
      const configs = await this.configs(topics);
      return new Map(
        topics.map((topic) => {
          const known = metadata.topics.get(topic)?.partitions ?? [];
          const [partitions, replicas] = [known.length, Math.min(...known.map((one) => one.replicas.length))];
          const config = configs.get(topic);
          const maxMessageBytes = config && Number(config['max.message.bytes']);
          const kept = { keepsMs: config && keepsMs(config), retentionMs: config && retentionMs(config) };
          return [topic, { topic, partitions, replicas, maxMessageBytes, ...kept }];
        }),
      );
    });
  }

  private async configs(topics: readonly string[]): Promise<Map<string, TopicConfig>> {
    const resources = topics.map((resourceName) => ({
      resourceType: ConfigResourceTypes.TOPIC,
      resourceName,
      configurationKeys: [...READ],
    }));
    try {
      const described = await this.client.admin.describeConfigs({ resources });
      return new Map(
        described.map(({ resourceName, configs }) => [
          resourceName,
          Object.fromEntries(configs.map(({ name, value }) => [name, value])) as TopicConfig,
        ]),
      );
    } catch (error) {
      if (brokerSays(error, 'TOPIC_AUTHORIZATION_FAILED')) return new Map();
      throw error;
    }
  }

  endOffsets(topic: string): Promise<ReadonlyMap<number, bigint>> {
    return this.client.asked(`read the end of topic ${topic}`, async () => {
      const counts = await this.partitionCounts([topic]);
      return (await this.offsetsAt(ListOffsetTimestamps.LATEST, counts)).get(topic) ?? new Map<number, bigint>();
    });
  }

  groupProgress(
    group: string,
    topics: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<number, PartitionProgress>>> {
    return this.client.asked(`read how far group ${group} has come`, async () => {
      const there = [...(await this.existing(topics))];
      if (there.length === 0) return new Map<string, Map<number, PartitionProgress>>();
      const counts = await this.partitionCounts(there);
      const ends = await this.offsetsAt(ListOffsetTimestamps.LATEST, counts);
      const starts = await this.offsetsAt(ListOffsetTimestamps.EARLIEST, counts);
      const committed = await this.committed(group, counts);
      return new Map(
        [...ends].map(([topic, ofTopic]) => [
          topic,
          new Map(
            [...ofTopic].map(([partition, end]) => [
              partition,
              {
                start: starts.get(topic)?.get(partition) ?? 0n,
                end,
                committed: committed.get(topic)?.get(partition) ?? null,
              },
            ]),
          ),
        ]),
      );
    });
  }

  private async partitionCounts(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const metadata = await this.client.admin.metadata({ topics: [...topics], forceUpdate: true });
    return new Map(topics.map((topic) => [topic, metadata.topics.get(topic)?.partitionsCount ?? 0]));
  }

  private async offsetsAt(
    timestamp: bigint,
    counts: ReadonlyMap<string, number>,
  ): Promise<Map<string, Map<number, bigint>>> {
    const topics = [...counts].map(([name, count]) => ({
      name,
      partitions: Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp })),
    }));
    const listed = await this.client.admin.listOffsets({ topics });
    return new Map(
      listed.map(({ name, partitions }) => [
        name,
        new Map(partitions.map(({ partitionIndex, offset }) => [partitionIndex, offset])),
      ]),
    );
  }

  /** Where the group has committed nothing in a partition there is no entry. */
  private async committed(
    group: string,
    counts: ReadonlyMap<string, number>,
  ): Promise<Map<string, Map<number, bigint>>> {
    const topics = [...counts].map(([name, count]) => ({
      name,
      partitionIndexes: Array.from({ length: count }, (_, partition) => partition),
    }));
    const [answer] = await this.client.admin.listConsumerGroupOffsets({ groups: [{ groupId: group, topics }] });
    return new Map(
      answer?.topics.map(({ name, partitions }) => [
        name,
        new Map(
          partitions
            .filter(({ committedOffset }) => committedOffset >= 0n)
            .map(({ partitionIndex, committedOffset }) => [partitionIndex, committedOffset]),
        ),
      ]),
    );
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
