import { CONTRACTS, contractsFor, type Format, formatOf, topicFor } from '../../contracts';
import { type Channel, deadLetterTopic } from '../../messaging/channels';
import type { TopicPlan } from '../../messaging/kafka';
import type { TopicOfPartner } from './domain/rights';
import type { PartnerSpec } from './partner-spec';

export type NewChannel = Omit<Channel, 'id'>;

/** A topic as it is to be; `config` names every option that onboarding looks after. */
export interface DesiredTopic extends TopicPlan, TopicOfPartner {
  config: Readonly<Record<string, string>>;
}

/** What a dead letter topic takes more than its source, for the headers that say why. */
const DEAD_LETTER_HEADERS_BYTES = 65_536;

/** One channel per direction and document family, as the contracts say. Documents that share a topic share its format. */
export function channelsOf(spec: PartnerSpec): NewChannel[] {
  const byTopic = new Map<string, NewChannel>();
  for (const contract of contractsFor(CONTRACTS, spec.partner)) {
    const topic = topicFor(contract, spec.partner);
    byTopic.set(topic, {
      partner: spec.partner,
      topic,
      direction: contract.direction,
      format: formatOf(contract, spec.format) satisfies Format,
      partitions: spec.partitions,
      maxMessageBytes: spec.topics.maxMessageBytes,
      allowMissingId: spec.allowMissingId,
    });
  }
  return [...byTopic.values()];
}

/** The topics of channels by who writes them; beside each that the partner writes stands the one of its dead letters. */
export const topicsOf = (channels: readonly Pick<Channel, 'topic' | 'direction'>[]): TopicOfPartner[] =>
  channels.flatMap(({ topic, direction }): TopicOfPartner[] =>
    direction === 'out'
      ? [{ topic, role: 'we-write' }]
      : [
          { topic, role: 'they-write' },
          { topic: deadLetterTopic(topic), role: 'dead-letters' },
        ],
  );

/** Dead letters have the partitions of their source: each is published to the number that it came from. */
export const desiredTopics = (spec: PartnerSpec): DesiredTopic[] =>
  topicsOf(channelsOf(spec)).map(({ topic, role }) => ({
    topic,
    role,
    partitions: spec.partitions,
    replicationFactor: spec.topics.replicationFactor,
    config: {
      // As it is written: to unpack it all, only to measure it, would put the broker's memory at a partner's mercy.
      'compression.type': 'producer',
      'max.message.bytes': String(
        spec.topics.maxMessageBytes + (role === 'dead-letters' ? DEAD_LETTER_HEADERS_BYTES : 0),
      ),
      'min.insync.replicas': String(spec.topics.minInsyncReplicas),
      'retention.ms': String(spec.topics.retentionHours * 3_600_000),
      // When it was written is for the broker to say: by the partner's word, a late answer was in time.
      ...(role === 'they-write' && { 'message.timestamp.type': 'LogAppendTime' }),
    },
  }));
