import type { DesiredTopic, NewChannel } from '../desired';
import type { Change, Changes, Difference, Note } from './plan';

/** A topic as it is; options: undefined where they can't be read. */
export interface ActualTopic {
  partitions: number;
  /** Copies of each partition. */
  replicas: number;
  options: Readonly<Record<string, string>> | undefined;
}

export interface TopicsSeen {
  topics: ReadonlyMap<string, ActualTopic>;
  channels: ReadonlyMap<string, NewChannel>;
  /** Made by onboarding, as it wrote down. */
  isOwned: (topic: string) => boolean;
  /** Made by a version that wrote nothing down: its channel, or that of the topic whose dead letters it takes, is there. */
  isAdopted: (topic: string) => boolean;
}

/** What has to be done so that the topics are what they should be; what is not ours is used as it is. */
export function topicChanges(desired: readonly DesiredTopic[], seen: TopicsSeen): Changes {
  const changes: Change[] = [];
  const notes: Note[] = [];
  for (const topic of desired) {
    const { topic: name } = topic;
    const actual = seen.topics.get(name);
    if (!actual) {
      changes.push({ op: '+', kind: 'topic', name, topic });
      continue;
    }
    if (actual.partitions !== topic.partitions) notes.push(partitionsDiffer(topic, actual.partitions));
    const all = differencesOf(topic.config, actual.options);
    const early = all.find((difference) => isEarly(difference, actual));
    if (actual.replicas !== topic.replicationFactor) notes.push(copiesDiffer(topic, actual.replicas, early));
    const differences = all.filter((difference) => difference !== early);
    if (!seen.isOwned(name) && !seen.isAdopted(name)) notes.push(foreign(name, all));
    else {
      if (!seen.isOwned(name)) changes.push({ op: '=', kind: 'topic', name });
      const shrinking = differences.filter(isShrinking);
      notes.push(...shrinking.map((difference) => tooSmall(name, difference)));
      const rest = differences.filter((difference) => !shrinking.includes(difference));
      if (rest.length > 0) changes.push({ op: '~', kind: 'topic', name, differences: rest });
    }
  }
  return { changes, notes };
}

/** A channel never changes, but for the size of its messages, which only grows: what was accepted must stay sendable. */
export function channelChanges(desired: readonly NewChannel[], actual: ReadonlyMap<string, NewChannel>): Changes {
  const changes: Change[] = [];
  const notes: Note[] = [];
  for (const channel of desired) {
    const { topic: name } = channel;
    const there = actual.get(name);
    if (!there) {
      changes.push({ op: '+', kind: 'channel', name, channel });
      continue;
    }
    notes.push(...fixed(channel, there));
    const [from, to] = [there.maxMessageBytes, channel.maxMessageBytes];
    if (to > from) {
      const differences = [{ member: 'maxMessageBytes', from: String(from), to: String(to) }];
      changes.push({ op: '~', kind: 'channel', name, differences });
    } else if (to < from)
      notes.push(tooSmall(name, { member: 'max.message.bytes', from: String(from), to: String(to) }, 'channel'));
  }
  return { changes, notes };
}

function differencesOf(
  desired: Readonly<Record<string, string>>,
  actual: Readonly<Record<string, string>> | undefined,
): Difference[] {
  if (!actual) return [];
  return Object.entries(desired)
    .filter(([member, to]) => actual[member] !== to)
    .map(([member, to]) => ({ member, from: actual[member], to }));
}

const isShrinking = ({ member, from, to }: Difference): boolean =>
  member === 'max.message.bytes' && Number(to) < Number(from);

/** With more copies asked for than there are, the topic would take nothing from those who wait for all of them, as we do. */
const isEarly = ({ member, to }: Difference, { replicas }: ActualTopic): boolean =>
  member === 'min.insync.replicas' && Number(to) > replicas;

const copiesDiffer = (
  { topic, replicationFactor }: DesiredTopic,
  actual: number,
  early: Difference | undefined,
): Note => ({
  kind: 'topic',
  name: topic,
  why: [
    `has ${actual} ${actual === 1 ? 'copy' : 'copies'} of each partition, not ${replicationFactor}: change that with kafka-reassign-partitions.sh`,
    ...(early
      ? [`min.insync.replicas is ${early.from ?? 'not set'}, and becomes ${early.to} once there are as many`]
      : []),
  ].join('; '),
});

const tooSmall = (name: string, { from, to }: Difference, kind: 'topic' | 'channel' = 'topic'): Note => ({
  kind,
  name,
  why: `takes messages of ${from} bytes and is not made smaller (${to}): what was accepted must stay sendable`,
  refusal: { code: 'channel-differs', hint: `Say topics.maxMessageBytes: ${from} or more.` },
});

const foreign = (name: string, differences: readonly Difference[]): Note => ({
  kind: 'topic',
  name,
  why: [
    'is there and was not made by Parley: used as it is',
    ...differences.map(({ member, from, to }) => `${member} is ${from ?? 'not set'}, and would be ${to}`),
  ].join('; '),
});

const partitionsDiffer = ({ topic, partitions }: DesiredTopic, actual: number): Note => ({
  kind: 'topic',
  name: topic,
  why: `has ${actual} partitions, not ${partitions}`,
  refusal: {
    code: 'partition-count-differs',
    hint: `Say partitions: ${actual} (--partitions ${actual}), or use a topic of a new version: the number is fixed for a topic's life.`,
  },
});

function fixed(desired: NewChannel, there: NewChannel): Note[] {
  const differs = (why: string, as: string): Note => ({
    kind: 'channel',
    name: desired.topic,
    why: `${why}, and a channel never changes`,
    refusal: { code: 'channel-differs', hint: `Say ${as}, as when the partner was added.` },
  });
  const { partitions, format, allowMissingId } = there;
  return [
    ...(partitions === desired.partitions
      ? []
      : [differs(`has ${partitions} partitions`, `partitions: ${partitions} (--partitions ${partitions})`)]),
    ...(format === desired.format ? [] : [differs(`speaks ${format}`, `format: ${format} (--format ${format})`)]),
    ...(allowMissingId === desired.allowMissingId
      ? []
      : [
          differs(
            `${allowMissingId ? 'allows' : 'refuses'} records without ce_id`,
            `allowMissingId: ${allowMissingId} (${allowMissingId ? '' : 'no '}--allow-missing-id)`,
          ),
        ]),
  ];
}
