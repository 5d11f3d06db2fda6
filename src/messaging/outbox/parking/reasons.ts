/** Why a lane waits or a message is dead: what happened, and what to do next. The broker's own words follow. */
const REASONS: Readonly<Record<string, string>> = {
  'topic-missing': 'The topic does not exist, or we may not see it. Make it (again), or give back the right to it.',
  'partition-missing':
    'The topic has fewer partitions than its channel. Make it again with as many; keys must not move to other partitions.',
  'not-authorized': 'We may not write to the topic. Give the right back (WRITE on the topic).',
  'authentication-failed': 'The broker does not accept our name and password. Check KAFKA_SASL_USERNAME and _PASSWORD.',
  'broker-unreachable': 'The broker that leads the partition cannot be reached. Check that it runs.',
  'not-acknowledged':
    'The broker does not acknowledge what is written: it has too few replicas, is read-only, or does not answer. Check the topic and its brokers.',
  'partner-paused': 'The partner is paused. Its messages follow in order when it is resumed.',
  'partner-suspended': 'The partner is suspended. Its messages follow in order when it is resumed.',
  'message-too-large':
    "The message is larger than the topic takes. Raise the topic's max.message.bytes and retry, or discard the message.",
  'invalid-record':
    'The broker will not take this record. Mend what its words name, then retry, or discard the message.',
  'message-missing': 'Its row in the outbox is gone; nothing can be sent. Discard it.',
};

/** A lane that waits because nothing is sent to its partner. */
const STOP_CODES = ['partner-paused', 'partner-suspended'] as const;
export type StopCode = (typeof STOP_CODES)[number];

export const isStop = (code: string | undefined): boolean => STOP_CODES.some((stop) => stop === code);

/** A sentence for people, from a code and the broker's own words. */
export function reasonOf(code: string, words?: string): string {
  const said = words ? ` (${words})` : '';
  return `${REASONS[code] ?? 'Sending fails.'}${said}`.slice(0, 1000);
}
