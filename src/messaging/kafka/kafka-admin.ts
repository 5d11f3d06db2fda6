import { Admin, ConfigResourceTypes, ListOffsetTimestamps } from '@platformatic/kafka';
import { brokerSays, toAdminError } from './admin-error';
import { adminSettings, type KafkaSettings } from './client-settings';

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
  /** The broker applies it to each (compressed) batch. */
  maxMessageBytes: number;
}

/** Verbs of administration. Every method rejects with an AppError: `broker-unreachable`, `authentication-failed`, `not-authorized`, `topic-missing`, … */
export interface KafkaAdmin {
  /** Creates what is missing and resolves with those names; never alters a topic that is there. */
  ensureTopics(plans: readonly TopicPlan[]): Promise<string[]>;
  /** By name; a topic that is missing (or that we may not see) is not in the map. */
  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, TopicDescription>>;
  /** By partition: the offset that the next record will get. Rejects with `topic-missing`. */
  endOffsets(topic: string): Promise<ReadonlyMap<number, bigint>>;
  /** Resolves when a broker answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Administration over a client of its own, connected at the first call. */
export function createKafkaAdmin(settings: KafkaSettings): KafkaAdmin {
  const client = new Admin(adminSettings(settings, 'admin'));
  // An emitter without a listener for 'error' would end the process; each call rejects with the same failure.
  client.on('error', () => undefined);
  return new PlatformaticAdmin(client);
}

class PlatformaticAdmin implements KafkaAdmin {
  constructor(private readonly client: Admin) {}

  async ensureTopics(plans: readonly TopicPlan[]): Promise<string[]> {
    const existing = await this.describeTopics(plans.map((plan) => plan.topic));
    const missing = plans.filter((plan) => !existing.has(plan.topic));
    const created = await Promise.all(missing.map((plan) => this.create(plan)));
    return created.filter((name) => name !== undefined);
  }

  /** One topic a call: the client applies a call's configuration to all of its topics. */
  private async create(plan: TopicPlan): Promise<string | undefined> {
    const { topic, partitions, replicationFactor: replicas } = plan;
    const configs = Object.entries(plan.config ?? {}).map(([name, value]) => ({ name, value }));
    try {
      await this.client.createTopics({ topics: [{ topic, partitions, replicas }], configs });
      return topic;
    } catch (error) {
      if (brokerSays(error, 'TOPIC_ALREADY_EXISTS')) return undefined;
      throw toAdminError(`create topic ${topic}`, error);
    }
  }

  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, TopicDescription>> {
    return asked('describe topics', async () => {
      if (names.length === 0) return new Map();
      const visible = new Set(await this.client.listTopics({ includeInternals: true }));
      const topics = [...new Set(names)].filter((name) => visible.has(name));
      if (topics.length === 0) return new Map();
      const metadata = await this.client.metadata({ topics, forceUpdate: true });
      const sizes = await this.maxMessageBytes(topics);
      return new Map(
        topics.map((topic) => {
          const partitions = metadata.topics.get(topic)?.partitionsCount ?? 0;
          return [topic, { topic, partitions, maxMessageBytes: sizes.get(topic) ?? 0 }];
        }),
      );
    });
  }

  private async maxMessageBytes(topics: readonly string[]): Promise<Map<string, number>> {
    const described = await this.client.describeConfigs({
      resources: topics.map((resourceName) => ({
        resourceType: ConfigResourceTypes.TOPIC,
        resourceName,
        configurationKeys: ['max.message.bytes'],
      })),
    });
    return new Map(described.map(({ resourceName, configs }) => [resourceName, Number(configs[0]?.value ?? 0)]));
  }

  endOffsets(topic: string): Promise<ReadonlyMap<number, bigint>> {
    return asked(`read the end of topic ${topic}`, async () => {
      const metadata = await this.client.metadata({ topics: [topic], forceUpdate: true });
      const count = metadata.topics.get(topic)?.partitionsCount ?? 0;
      const partitions = Array.from({ length: count }, (_, partitionIndex) => ({
        partitionIndex,
        timestamp: ListOffsetTimestamps.LATEST,
      }));
      const [listed] = await this.client.listOffsets({ topics: [{ name: topic, partitions }] });
      return new Map(listed?.partitions.map(({ partitionIndex, offset }) => [partitionIndex, offset]));
    });
  }

  async ping(): Promise<void> {
    await asked('reach Kafka', () => this.client.metadata({ topics: [], forceUpdate: true }));
  }

  async close(): Promise<void> {
    await this.client.close().catch(() => undefined);
  }
}

async function asked<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toAdminError(doing, error);
  }
}
