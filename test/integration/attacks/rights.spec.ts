import { listGroupsV4, listTransactionsV0, metadataV12 } from '@platformatic/kafka';
import { adminAccount, createSecurityAdmin } from '../../../src/messaging/kafka';
import { eventually } from '../../support/eventually';
import { readAll, refusalsIn, unreadBy, withAdmin } from '../../support/kafka';
import { CLUSTER_ATTACKS, TRANSACTION_ATTACKS } from './cluster-attacks';
import { GROUP_ATTACKS } from './group-attacks';
import type { Attack, Scene } from './scene';
import { acceptance, answer, type Onboarded, openStage, type PlacedOrder, type Stage } from './stage';
import { dlt, TOPIC_ATTACKS } from './topic-attacks';

let stage: Stage;
let acme: Onboarded;
let globex: Onboarded;
let order: PlacedOrder;
let known: Pick<Scene, 'group' | 'memberId' | 'topicIds'>;

const topicsOf = ({ topics }: Onboarded) => [...Object.values(topics), dlt(topics.responses), dlt(topics.advices)];

beforeAll(async () => {
  stage = await openStage();
  [acme, globex] = [await stage.onboard('acme'), await stage.onboard('globex')];
  order = await stage.place(globex);
  await answer(globex, acceptance(order));
  await eventually(async () => (await stage.stateOf(order)) === 'accepted');
  const group = stage.config.kafkaConsumerGroup;
  // The commit comes behind what it is about, and would look like an attacker's.
  await eventually(async () => (await unreadBy(group, globex.topics.responses, 1, stage.administrator)) === 0);
  known = await withAdmin(stage.administrator, async (admin) => {
    const { topics } = await admin.metadata({ topics: [...topicsOf(acme), ...topicsOf(globex)] });
    const [memberId] = (await admin.describeGroups({ groups: [group] })).get(group)?.members.keys() ?? [];
    if (memberId === undefined) throw new Error('Parley is not in its group');
    return { group, memberId, topicIds: new Map([...topics].map(([name, { id }]) => [name, id])) };
  });
});
afterAll(() => stage.close());

const attacking = <T>(work: (scene: Scene) => Promise<T>): Promise<T> =>
  withAdmin(acme.door, async (admin) => {
    const [connection] = (await admin.connectToBrokers()).values();
    if (!connection) throw new Error('no broker');
    return work({ ...{ admin, connection, acme, globex }, ...known });
  });

/** What the broker said against it, by the protocol's names; none: it was done. */
const refusals = (attack: Attack): Promise<string[]> =>
  attacking(attack).then(
    () => [],
    (error: unknown) => refusalsIn(error),
  );

/** All that an attack could have changed. */
async function everything() {
  const security = createSecurityAdmin(
    adminAccount({
      ...stage.config,
      ...{ kafkaAdminUsername: stage.kafka.admin.username, kafkaAdminPassword: stage.kafka.admin.password },
    }),
  );
  const topics = [...topicsOf(acme), ...topicsOf(globex)];
  try {
    const rights = await Promise.all(
      [acme, globex].map(({ account }) => security.acls({ principal: `User:${account.username}` })),
    );
    return {
      rights: rights.map((acls) => acls.map((acl) => JSON.stringify(acl)).toSorted()),
      users: await security.users([acme.account.username, globex.account.username, stage.kafka.parley.username]),
      quotas: [await security.quota(acme.account.username), await security.quota(globex.account.username)],
      options: await security.topicOptions(topics, ['max.message.bytes', 'retention.ms']),
      records: await Promise.all(topics.map(async (topic) => (await readAll(topic, stage.administrator)).length)),
      ids: await withAdmin(stage.administrator, async (admin) => {
        const seen = await admin.metadata({ topics, forceUpdate: true });
        return topics.map((topic) => [seen.topics.get(topic)?.id, seen.topics.get(topic)?.partitionsCount]);
      }),
      offsets: await withAdmin(stage.administrator, (admin) =>
        admin.listConsumerGroupOffsets({ groups: [known.group] }),
      ),
    };
  } finally {
    await security.close();
  }
}

describe('a partner with a valid account and any client', () => {
  let before: Awaited<ReturnType<typeof everything>>;
  beforeAll(async () => {
    before = await everything();
  });

  describe.each([
    ['topics', TOPIC_ATTACKS],
    ['groups', GROUP_ATTACKS],
    ['the cluster', CLUSTER_ATTACKS],
    ['transactions', TRANSACTION_ATTACKS],
  ])('is refused at %s, when it', (_, attacks) => {
    it.each(attacks)('%s', async (_what, refusal, attack) => {
      expect(await refusals(attack)).toEqual([refusal]);
    });
  });

  it('sees the names of its own topics, and of no others', async () => {
    const { topics } = await attacking(({ connection }) => metadataV12.api.async(connection, null, true));
    expect(topics.map(({ name }) => name).toSorted()).toEqual(Object.values(acme.topics).toSorted());
  });

  it('sees no group, transaction or account of anybody', async () => {
    const seen = await attacking(async ({ connection }) => ({
      groups: (await listGroupsV4.api.async(connection, [], [])).groups,
      transactions: (await listTransactionsV0.api.async(connection, [], [], -1n, null)).transactionStates,
    }));
    expect(seen).toEqual({ groups: [], transactions: [] });
  });

  it('has changed nothing by all of it, and everybody works on', async () => {
    expect(await everything()).toEqual(before);
    for (const partner of [acme, globex]) {
      const next = await stage.place(partner);
      await answer(partner, acceptance(next));
      await eventually(async () => (await stage.stateOf(next)) === 'accepted');
    }
  });
});
