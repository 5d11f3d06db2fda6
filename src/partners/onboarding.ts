import { CONTRACTS, type Format, formatOf, PARTNER_ID_PATTERN, topicFor } from '../contracts';
import { addChannels, type Channel, ChannelCatalog, deadLetterTopic } from '../messaging/channels';
import type { KafkaAdmin, TopicPlan } from '../messaging/kafka';
import type { Database } from '../platform/database';
import { NonRetriableError } from '../platform/errors';
import type { Partners } from './partners';

export interface Onboarding {
  id: string;
  name: string;
  /** Partitions of each of the partner's topics; fixed for the topics' life. */
  partitions: number;
  replicationFactor: number;
  /** How long the topics that the partner writes keep its records: ids must be remembered longer. */
  topicRetentionHours: number;
  /** How the partner's documents become bytes, except where a contract says so itself. */
  format: Format;
  /** May a record without `ce_id` be identified by topic, partition and offset? */
  allowMissingId: boolean;
}

/** Largest record that a partner's topic takes: Kafka's own default, a little over 1 MiB. */
const MAX_MESSAGE_BYTES = 1_048_588;
/** What a dead letter topic takes more than its source, for the headers that say why. */
const DEAD_LETTER_HEADERS_BYTES = 65_536;

/** One topic per direction and document family, as the contracts say. Documents that share a topic share its format. */
export function channelsFor(onboarding: Onboarding): Omit<Channel, 'id'>[] {
  const byTopic = new Map<string, Omit<Channel, 'id'>>();
  for (const contract of CONTRACTS) {
    const topic = topicFor(contract, onboarding.id);
    byTopic.set(topic, {
      partner: onboarding.id,
      topic,
      direction: contract.direction,
      format: formatOf(contract, onboarding.format),
      partitions: onboarding.partitions,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      allowMissingId: onboarding.allowMissingId,
    });
  }
  return [...byTopic.values()];
}

/**
 * Adds a partner: topics first, so that no order is accepted for a topic that isn't there, then its rows in one transaction.
 * Again changes nothing but adds the channels of documents that are new since; after a failure it goes on where it stopped. Throws `partner-id-invalid`, `channel-differs` when a
 * channel is there and was added otherwise, or `partition-count-differs` when a topic exists with another number of partitions.
 */
export async function addPartner(
  onboarding: Onboarding,
  parts: { database: Database; partners: Partners; admin: KafkaAdmin; now: Date },
): Promise<Omit<Channel, 'id'>[]> {
  if (!new RegExp(PARTNER_ID_PATTERN).test(onboarding.id)) {
    throw new NonRetriableError(
      'partner-id-invalid',
      `"${onboarding.id}" is no partner id: a lower-case letter, then up to 31 lower-case letters, digits or dashes.`,
    );
  }
  const channels = channelsFor(onboarding);
  await expectUnchanged(parts.database, channels);
  const plans = channels.flatMap((channel) => topicsOf(channel, onboarding));
  await parts.admin.ensureTopics(plans);
  await expectPartitions(parts.admin, plans);
  await parts.database.transaction(async (tx) => {
    await parts.partners.add(tx, { id: onboarding.id, name: onboarding.name, createdAt: parts.now });
    await addChannels(tx, channels, parts.now);
  });
  return channels;
}

/** A channel's topic; beside one that the partner writes, the one for its dead letters, partition for partition. */
function topicsOf(channel: Omit<Channel, 'id'>, { replicationFactor, topicRetentionHours }: Onboarding): TopicPlan[] {
  const { topic, partitions, maxMessageBytes } = channel;
  const plan = (name: string, bytes: number, more: Record<string, string> = {}): TopicPlan => ({
    topic: name,
    partitions,
    replicationFactor,
    config: {
      'max.message.bytes': String(bytes),
      'min.insync.replicas': String(Math.max(1, replicationFactor - 1)),
      ...more,
    },
  });
  if (channel.direction === 'out') return [plan(topic, maxMessageBytes)];
  return [
    plan(topic, maxMessageBytes, { 'retention.ms': String(topicRetentionHours * 3_600_000) }),
    plan(deadLetterTopic(topic), maxMessageBytes + DEAD_LETTER_HEADERS_BYTES),
  ];
}

async function expectPartitions(admin: KafkaAdmin, plans: readonly TopicPlan[]): Promise<void> {
  const there = await admin.describeTopics(plans.map(({ topic }) => topic));
  for (const { topic, partitions } of plans) {
    const found = there.get(topic);
    if (!found || found.partitions === partitions) continue;
    throw new NonRetriableError(
      'partition-count-differs',
      `Topic ${topic} has ${found.partitions} partitions, not ${partitions}.`,
      {
        hint: `Use --partitions ${found.partitions}, or a topic of a new version: the number is fixed for a topic's life.`,
      },
    );
  }
}

/**
 * A channel never changes. Looked at before any topic is made: one with another partition count than its channel could only
 * be deleted again.
 */
async function expectUnchanged(database: Database, channels: readonly Omit<Channel, 'id'>[]): Promise<void> {
  const catalog = new ChannelCatalog(database);
  await catalog.load();
  for (const { topic, partitions, format, allowMissingId } of channels) {
    const there = catalog.find(topic);
    if (!there) continue;
    const refuse = (is: string, asIs: string) =>
      new NonRetriableError('channel-differs', `The channel ${topic} ${is}, and a channel never changes.`, {
        hint: `Use ${asIs}, as when the partner was added.`,
      });
    if (there.partitions !== partitions)
      throw refuse(`has ${there.partitions} partitions`, `--partitions ${there.partitions}`);
    if (there.format !== format) throw refuse(`speaks ${there.format}`, `--format ${there.format}`);
    if (there.allowMissingId !== allowMissingId) {
      const [is, asIs] = there.allowMissingId ? ['allows', '--allow-missing-id'] : ['refuses', 'no --allow-missing-id'];
      throw refuse(`${is} records without ce_id`, asIs);
    }
  }
}
