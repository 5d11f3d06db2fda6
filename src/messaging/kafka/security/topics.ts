import {
  ConfigResourceTypes,
  ConfigSources,
  type Connection,
  describeConfigsV4,
  IncrementalAlterConfigOperationTypes,
} from '@platformatic/kafka';
import { brokerSays, isTopicMissing } from '../admin-error';
import type { TopicOption } from '../security-types';
import type { SecurityClient } from './security-client';

type Options = Readonly<Record<string, TopicOption>>;

/** Options of topics that are there, and their end. */
export class Topics {
  constructor(private readonly client: SecurityClient) {}

  options(topics: readonly string[], names: readonly string[]): Promise<ReadonlyMap<string, Options>> {
    const which = topics.join(', ');
    return this.client.asked(`read the options of topic ${which}`, `DescribeConfigs on topic ${which}`, async () => {
      const described = await Promise.all(
        topics.map((topic) => this.client.onOne((broker) => optionsAt(broker, topic, names))),
      );
      return new Map(
        topics.flatMap((topic, index) => {
          const options = described[index];
          return options ? [[topic, options] as const] : [];
        }),
      );
    });
  }

  putOptions(topic: string, options: Readonly<Record<string, string>>): Promise<void> {
    return this.client.asked(`change options of topic ${topic}`, `AlterConfigs on topic ${topic}`, async () => {
      const entries = Object.entries(options);
      if (entries.length === 0) return;
      const configOperation = IncrementalAlterConfigOperationTypes.SET;
      const configs = entries.map(([name, value]) => ({ name, value, configOperation }));
      const resourceType = ConfigResourceTypes.TOPIC;
      await this.client.admin.incrementalAlterConfigs({ resources: [{ resourceType, resourceName: topic, configs }] });
      await this.client.settled(`The options of topic ${topic}`, async (broker) => {
        const known = (await optionsAt(broker, topic, Object.keys(options))) ?? {};
        return entries.every(([name, value]) => known[name]?.value === value && known[name].isOwn);
      });
    });
  }

  delete(topics: readonly string[]): Promise<void> {
    const which = topics.join(', ');
    return this.client.asked(`delete topic ${which}`, `Delete on topic ${which}`, async () => {
      // One a call: in one call a topic that is not there would fail the others' answer.
      for (const topic of topics) await this.deleteOne(topic);
      const gone = async () => {
        const there = new Set(await this.client.admin.listTopics({ includeInternals: true }));
        return !topics.some((topic) => there.has(topic));
      };
      await this.client.settled(`That topic ${which} is deleted`, gone);
    });
  }

  private async deleteOne(topic: string): Promise<void> {
    try {
      await this.client.admin.deleteTopics({ topics: [topic] });
    } catch (error) {
      if (!isTopicMissing(error)) throw error;
    }
  }
}

/** Undefined: no such topic. */
async function optionsAt(broker: Connection, topic: string, names: readonly string[]): Promise<Options | undefined> {
  const resource = {
    resourceType: ConfigResourceTypes.TOPIC,
    resourceName: topic,
    configurationKeys: [...names],
  };
  try {
    const { results } = await describeConfigsV4.api.async(broker, [resource], false, false);
    const configs = results.flatMap((result) => result.configs);
    return Object.fromEntries(
      configs.map(({ name, value, configSource }) => [
        name,
        { value: value ?? '', isOwn: configSource === ConfigSources.DYNAMIC_TOPIC_CONFIG },
      ]),
    );
  } catch (error) {
    if (brokerSays(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return undefined;
    throw error;
  }
}
