import { describeProducersV0, fetchV15, listOffsetsV8, metadataV12 } from '@platformatic/kafka';
import { produce, readAll, uniqueName } from '../../support/kafka';
import { type Attack, type Attacks, type Scene, setTo, topicNamed } from './scene';

export const dlt = (topic: string): string => `${topic}-dlt`;

const write =
  (topic: (scene: Scene) => string): Attack =>
  (scene) =>
    produce(topic(scene), [{ key: 'attack', value: '{}', partition: 0 }], scene.acme.door);

const read =
  (topic: (scene: Scene) => string): Attack =>
  (scene) =>
    readAll(topic(scene), scene.acme.door);

/** Asks for no metadata, which would already be refused: what it has to know, it knows. */
const fetchFrom =
  (topic: (scene: Scene) => string): Attack =>
  (scene) => {
    const topicId = scene.topicIds.get(topic(scene)) ?? '';
    const at = { partition: 0, currentLeaderEpoch: -1, fetchOffset: 0n, lastFetchedEpoch: -1 };
    const topics = [{ topicId, partitions: [{ ...at, partitionMaxBytes: 1 << 20 }] }];
    return fetchV15.api.async(scene.connection, 100, 1, 1 << 20, 0, 0, -1, topics, [], '');
  };

const REFUSED = 'TOPIC_AUTHORIZATION_FAILED';

export const TOPIC_ATTACKS: Attacks = [
  ["reads another partner's requests", REFUSED, read(({ globex }) => globex.topics.requests)],
  ["fetches another partner's requests by the topic's id", REFUSED, fetchFrom(({ globex }) => globex.topics.requests)],
  ["reads another partner's answers", REFUSED, read(({ globex }) => globex.topics.responses)],
  ["reads another partner's error reports", REFUSED, read(({ globex }) => globex.topics.errors)],
  ['reads its own answers back', REFUSED, fetchFrom(({ acme }) => acme.topics.responses)],
  ['reads its dead letters', REFUSED, read(({ acme }) => dlt(acme.topics.responses))],
  ['fetches its dead letters by id', REFUSED, fetchFrom(({ acme }) => dlt(acme.topics.responses))],
  ["reads another partner's dead letters", REFUSED, read(({ globex }) => dlt(globex.topics.responses))],
  ['reads the offsets of all groups', REFUSED, read(() => '__consumer_offsets')],
  ['writes requests to itself, as we do', REFUSED, write(({ acme }) => acme.topics.requests)],
  ['writes error reports to itself', REFUSED, write(({ acme }) => acme.topics.errors)],
  ["writes another partner's answers", REFUSED, write(({ globex }) => globex.topics.responses)],
  ["writes another partner's requests", REFUSED, write(({ globex }) => globex.topics.requests)],
  ['writes to its dead letters', REFUSED, write(({ acme }) => dlt(acme.topics.responses))],
  [
    "asks how far another partner's topic reaches",
    REFUSED,
    ({ connection, globex }) =>
      listOffsetsV8.api.async(connection, -1, 0, [
        {
          name: globex.topics.responses,
          partitions: [{ partitionIndex: 0, currentLeaderEpoch: -1, timestamp: -1n }],
        },
      ]),
  ],
  [
    'asks who writes to a topic',
    REFUSED,
    ({ connection, acme }) =>
      describeProducersV0.api.async(connection, [{ name: acme.topics.responses, partitionIndexes: [0] }]),
  ],
  [
    'deletes records of its own topic',
    REFUSED,
    ({ admin, acme }) =>
      admin.deleteRecords({ topics: [{ name: acme.topics.responses, partitions: [{ partition: 0, offset: -1n }] }] }),
  ],
  ['deletes its own topic', REFUSED, ({ admin, acme }) => admin.deleteTopics({ topics: [acme.topics.responses] })],
  [
    "deletes another partner's topic",
    REFUSED,
    ({ admin, globex }) => admin.deleteTopics({ topics: [globex.topics.responses] }),
  ],
  [
    'gives its topic more partitions',
    REFUSED,
    ({ admin, acme }) =>
      admin.createPartitions({ topics: [{ name: acme.topics.responses, count: 9, assignments: [] }] }),
  ],
  [
    'lets its topic take larger messages',
    REFUSED,
    ({ admin, acme }) =>
      admin.incrementalAlterConfigs({
        resources: [{ ...topicNamed(acme.topics.responses), configs: [setTo('max.message.bytes', '900000000')] }],
      }),
  ],
  [
    "lets another partner's topic forget at once",
    REFUSED,
    ({ admin, globex }) =>
      admin.incrementalAlterConfigs({
        resources: [{ ...topicNamed(globex.topics.responses), configs: [setTo('retention.ms', '1')] }],
      }),
  ],
  [
    "asks for another partner's settings",
    REFUSED,
    ({ admin, globex }) => admin.describeConfigs({ resources: [topicNamed(globex.topics.responses)] }),
  ],
  [
    'makes a topic',
    REFUSED,
    ({ admin }) => admin.createTopics({ topics: [uniqueName('orders.mine')], partitions: 1, replicas: 1 }),
  ],
  [
    'makes a topic by asking for it',
    REFUSED,
    ({ connection, acme }) => metadataV12.api.async(connection, [`orders.${acme.id}.more.v1`], true),
  ],
];
