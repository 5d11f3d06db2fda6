import {
  addPartitionsToTxnV3,
  type Admin,
  alterPartitionReassignmentsV1,
  alterUserScramCredentialsV0,
  ClientQuotaEntityTypes,
  ClientQuotaKeys,
  ClientQuotaMatchTypes,
  ConfigResourceTypes,
  describeTransactionsV0,
  describeUserScramCredentialsV0,
  endTxnV3,
  initProducerIdV4,
  produceV9,
  ResourceTypes,
  unregisterBrokerV0,
} from '@platformatic/kafka';
import { createHash } from 'node:crypto';
import { right } from '../../support/topic-faults';
import { type Attack, type Attacks, setTo } from './scene';

const CLUSTER = 'CLUSTER_AUTHORIZATION_FAILED';
const TRANSACTION = 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED';

const brokerOf = async (admin: Admin): Promise<string> =>
  String([...(await admin.metadata({ topics: [] })).brokers.keys()][0]);

/** A record of a transaction that never ends: who reads what is committed would wait at it for ever. */
const openTransaction: Attack = ({ connection, acme }) =>
  produceV9.api.async(
    ...[connection, -1, 5000],
    [{ topic: acme.topics.responses, partition: 0, value: Buffer.from('{}') }],
    { transactionalId: `${acme.id}-hold`, producerId: 1n, producerEpoch: 0, firstSequence: 0 },
  );

export const CLUSTER_ATTACKS: Attacks = [
  [
    'lists who has which rights',
    CLUSTER,
    ({ admin }) =>
      admin.describeAcls({
        filter: {
          ...right('x', 'TOPIC', 'x', 'ANY'),
          ...{ resourceName: null, principal: null, host: null },
          resourceType: ResourceTypes.ANY,
        },
      }),
  ],
  [
    'gives itself rights',
    CLUSTER,
    ({ admin, acme, globex }) =>
      admin.createAcls({ creations: [right(acme.account.username, 'TOPIC', globex.topics.responses, 'WRITE')] }),
  ],
  [
    "takes another partner's rights",
    CLUSTER,
    ({ admin, globex }) =>
      admin.deleteAcls({ filters: [right(globex.account.username, 'TOPIC', globex.topics.responses, 'WRITE')] }),
  ],
  ['asks for the accounts', CLUSTER, ({ connection }) => describeUserScramCredentialsV0.api.async(connection, [])],
  [
    "sets another partner's password",
    CLUSTER,
    ({ connection, globex }) => {
      const salted = createHash('sha512').update('x').digest();
      const password = {
        name: globex.account.username,
        mechanism: 2,
        iterations: 4096,
        salt: salted,
        saltedPassword: salted,
      } as const;
      return alterUserScramCredentialsV0.api.async(connection, [], [password]);
    },
  ],
  [
    "deletes Parley's account",
    CLUSTER,
    ({ connection }) => alterUserScramCredentialsV0.api.async(connection, [{ name: 'parley', mechanism: 2 }], []),
  ],
  [
    'asks for limits',
    CLUSTER,
    ({ admin, acme }) =>
      admin.describeClientQuotas({
        components: [
          {
            entityType: ClientQuotaEntityTypes.USER,
            matchType: ClientQuotaMatchTypes.EXACT,
            match: acme.account.username,
          },
        ],
      }),
  ],
  [
    'lifts its own limit',
    CLUSTER,
    ({ admin, acme }) =>
      admin.alterClientQuotas({
        entries: [
          {
            entities: [{ entityType: ClientQuotaEntityTypes.USER, entityName: acme.account.username }],
            ops: [{ key: ClientQuotaKeys.PRODUCER_BYTE_RATE, remove: true }],
          },
        ],
      }),
  ],
  [
    "changes the broker's settings",
    CLUSTER,
    async ({ admin }) =>
      admin.incrementalAlterConfigs({
        resources: [
          {
            resourceType: ConfigResourceTypes.BROKER,
            resourceName: await brokerOf(admin),
            configs: [setTo('message.max.bytes', '1')],
          },
        ],
      }),
  ],
  [
    'moves a topic to other brokers',
    CLUSTER,
    ({ connection, acme }) =>
      alterPartitionReassignmentsV1.api.async(connection, 5000, false, [
        { name: acme.topics.responses, partitions: [{ partitionIndex: 0, replicas: [99] }] },
      ]),
  ],
  ['throws a broker out', CLUSTER, ({ connection }) => unregisterBrokerV0.api.async(connection, 99)],
];

export const TRANSACTION_ATTACKS: Attacks = [
  [
    'begins a transaction',
    TRANSACTION,
    ({ connection, acme }) => initProducerIdV4.api.async(connection, `${acme.id}-tx`, 60_000, -1n, -1),
  ],
  ['writes into one on its own topic, that would never end', TRANSACTION, openTransaction],
  [
    "takes another's topic into one",
    TRANSACTION,
    ({ connection, globex }) =>
      addPartitionsToTxnV3.api.async(connection, [
        {
          transactionalId: 'tx',
          producerId: 1n,
          producerEpoch: 0,
          verifyOnly: false,
          topics: [{ name: globex.topics.responses, partitions: [0] }],
        },
      ]),
  ],
  ["ends another's", TRANSACTION, ({ connection }) => endTxnV3.api.async(connection, 'tx', 1n, 0, false)],
  ["describes another's", TRANSACTION, ({ connection }) => describeTransactionsV0.api.async(connection, ['tx'])],
];
