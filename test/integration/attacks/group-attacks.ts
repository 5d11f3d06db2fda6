import {
  consumerGroupHeartbeatV0,
  heartbeatV4,
  joinGroupV9,
  leaveGroupV5,
  offsetCommitV8,
  offsetFetchV9,
} from '@platformatic/kafka';

import type { Attack, Attacks, Scene } from './scene';

const join =
  (group: (scene: Scene) => string): Attack =>
  (scene) => {
    const protocols = [{ name: 'range', metadata: Buffer.alloc(0) }];
    return joinGroupV9.api.async(scene.connection, group(scene), 10_000, 10_000, '', null, 'consumer', protocols);
  };

const groupOf = ({ globex }: Scene): string => `partner.${globex.id}.reader`;
const parleys = ({ group }: Scene): string => group;
const back = { partitionIndex: 0, committedOffset: 0n, committedLeaderEpoch: -1 };

const REFUSED = 'GROUP_AUTHORIZATION_FAILED';

export const GROUP_ATTACKS: Attacks = [
  ["joins Parley's group", REFUSED, join(parleys)],
  ["joins another partner's group", REFUSED, join(groupOf)],
  [
    "joins Parley's group by the newer protocol",
    REFUSED,
    (scene) =>
      consumerGroupHeartbeatV0.api.async(
        ...[scene.connection, scene.group, '', 0, null, null, 10_000],
        ...[[scene.acme.topics.requests], null, null, []],
      ),
  ],
  [
    "throws a member out of Parley's group",
    REFUSED,
    ({ connection, group, memberId }) =>
      leaveGroupV5.api.async(connection, group, [{ memberId, groupInstanceId: null, reason: null }]),
  ],
  [
    "heartbeats as Parley's member",
    REFUSED,
    ({ connection, group, memberId }) => heartbeatV4.api.async(connection, group, 1, memberId, null),
  ],
  [
    "sets Parley's offsets back",
    REFUSED,
    ({ connection, group, acme }) =>
      offsetCommitV8.api.async(connection, group, -1, '', null, [{ name: acme.topics.responses, partitions: [back] }]),
  ],
  [
    "sets another partner's offsets back",
    REFUSED,
    (scene) =>
      offsetCommitV8.api.async(scene.connection, groupOf(scene), -1, '', null, [
        { name: scene.acme.topics.requests, partitions: [back] },
      ]),
  ],
  [
    "reads Parley's offsets",
    REFUSED,
    ({ connection, group }) =>
      offsetFetchV9.api.async(connection, [{ groupId: group, memberId: null, memberEpoch: -1, topics: null }], false),
  ],
  [
    "deletes Parley's offsets",
    REFUSED,
    ({ admin, group, acme }) =>
      admin.deleteConsumerGroupOffsets({
        groupId: group,
        topics: [{ name: acme.topics.responses, partitionIndexes: [0] }],
      }),
  ],
  ["deletes Parley's group", REFUSED, ({ admin, group }) => admin.deleteGroups({ groups: [group] })],
  ["describes Parley's group", REFUSED, ({ admin, group }) => admin.describeGroups({ groups: [group] })],
  ['joins a group whose name only begins like its own', REFUSED, join(({ acme }) => `partner.${acme.id}-eu.reader`)],
];
