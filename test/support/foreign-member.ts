// First: its patches must be there when kafkajs loads.
import { Kafka, logLevel } from '../../src/messaging/kafka/kafkajs';
import { type PartitionAssigner, PartitionAssigners } from 'kafkajs';

/**
 * A member of the group with an assignment protocol of its own: the group then refuses ours, and no waiting heals that. Resolves when it has
 * joined.
 */
export async function joinWithForeignProtocol(group: string, topic: string): Promise<{ close(): Promise<void> }> {
  const strange: PartitionAssigner = (config) => {
    const base = PartitionAssigners.roundRobin(config);
    return { ...base, name: 'strange', protocol: (topics) => ({ ...base.protocol(topics), name: 'strange' }) };
  };
  const brokers = (process.env['TEST_KAFKA_BROKERS'] ?? '').split(',');
  const member = new Kafka({ brokers, logLevel: logLevel.NOTHING }).consumer({
    groupId: group,
    partitionAssigners: [strange],
  });
  const joined = new Promise<void>((resolve) => member.on(member.events.GROUP_JOIN, () => resolve()));
  await member.connect();
  await member.subscribe({ topic });
  await member.run({ eachMessage: () => Promise.resolve() });
  await joined;
  return { close: () => member.disconnect() };
}
