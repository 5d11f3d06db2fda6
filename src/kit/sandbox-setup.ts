import type { Channel } from '../asyncapi';

/** One partition would hide what order per key means; more would only take time to make. */
const PARTITIONS = 3;

/**
 * Makes in the sandbox what onboarding makes at our brokers: the partner's topics, its account, and who may do what. The company's
 * account is there from the start.
 */
export function sandboxSetup(partner: string, channels: readonly Pick<Channel, 'topic' | 'ours'>[]): Buffer {
  const company = 'parley';
  const account = `${partner}.1`;
  const ours = channels.filter((channel) => channel.ours).map(({ topic }) => topic);
  const theirs = channels.filter((channel) => !channel.ours).map(({ topic }) => topic);
  const may = (name: string, operations: readonly string[], topics: readonly string[]) =>
    [
      `"$bin/kafka-acls.sh" "\${reach[@]}" --add --allow-principal User:${name}`,
      ...operations.map((operation) => `--operation ${operation}`),
      ...topics.map((topic) => `--topic ${topic}`),
    ].join(' \\\n  ');
  return Buffer.from(`#!/usr/bin/env bash
# Makes the topics of ${partner}, its account and the rights of both sides. Again it changes nothing but the password.
set -euo pipefail
bin=\${KAFKA_BIN:-/opt/kafka/bin}
reach=(--bootstrap-server "\${SANDBOX_BROKER:-localhost:9092}" --command-config "\${CLIENT_PROPERTIES:-/opt/parley/client.properties}")

for topic in ${[...ours, ...theirs].join(' ')}; do
  "$bin/kafka-topics.sh" "\${reach[@]}" --create --if-not-exists --topic "$topic" --partitions ${PARTITIONS} --replication-factor 1
done
"$bin/kafka-configs.sh" "\${reach[@]}" --alter --entity-type users --entity-name ${account} \\
  --add-config "SCRAM-SHA-512=[iterations=4096,password=$PARTNER_PASSWORD]"

# You: read what we write, write what you write, in groups whose names begin with your own.
${may(account, ['Read', 'Describe'], ours)}
${may(account, ['Write', 'Describe'], theirs)}
"$bin/kafka-acls.sh" "\${reach[@]}" --add --allow-principal User:${account} \\
  --operation Read --operation Describe --group partner.${partner}. --resource-pattern-type prefixed

# We: the other way round.
${may(company, ['Write', 'Describe', 'DescribeConfigs'], ours)}
${may(company, ['Read', 'Describe', 'DescribeConfigs'], theirs)}
`);
}
