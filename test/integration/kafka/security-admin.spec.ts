import { randomBytes } from 'node:crypto';
import {
  alterUserScramCredentialsV0,
  Consumer,
  describeUserScramCredentialsV0,
  ScramMechanisms,
} from '@platformatic/kafka';
import { startKafka, startKafkaCluster } from '../../../scripts/servers/index.mjs';
import { type Acl, createSecurityAdmin, type SecurityAdmin } from '../../../src/messaging/kafka';
import { SecurityClient } from '../../../src/messaging/kafka/security/security-client';
import { guardedKafka } from '../../support/guarded-kafka';
import { eventually } from '../../support/eventually';
import { createTopic, uniqueName } from '../../support/kafka';
import { closeAll, closing, failureOf as failure, secureSettings, settingsFor, stopping } from './fixtures';

const kafka = guardedKafka();
const { parley } = kafka;
const security: SecurityAdmin = createSecurityAdmin(secureSettings(kafka, kafka.admin));

afterEach(() => closeAll());
afterAll(() => security.close());

const acl = (principal: string, change: Partial<Acl> = {}): Acl => ({
  principal,
  resource: 'topic',
  name: 'orders.acme.request.v1',
  pattern: 'literal',
  operation: 'Read',
  permission: 'allow',
  host: '*',
  ...change,
});

const plainClient = { bootstrapBrokers: settingsFor().kafkaBrokers };

const twice = async (work: () => Promise<void>): Promise<void> => {
  await work();
  await work();
};

/** Can this account sign in? */
async function signsIn(account: { username: string; password: string }): Promise<boolean> {
  const own = createSecurityAdmin(secureSettings(kafka, account));
  try {
    const error = await failure(own.users());
    if (error.code !== 'not-authorized' && error.code !== 'authentication-failed') throw error;
    return error.code === 'not-authorized';
  } finally {
    await own.close();
  }
}
const raw = new SecurityClient(secureSettings(kafka, kafka.admin));
afterAll(() => raw.close());
async function giveSha256(name: string): Promise<void> {
  const [mechanism, salt, saltedPassword] = [ScramMechanisms.SCRAM_SHA_256, randomBytes(32), randomBytes(32)];
  const user = { name, mechanism, iterations: 4096, salt, saltedPassword };
  await raw.onOne((broker) => alterUserScramCredentialsV0.api.async(broker, [], [user]));
}
async function mechanismsOf(name: string): Promise<number[]> {
  const { results } = await raw.onOne((broker) => describeUserScramCredentialsV0.api.async(broker, []));
  return results
    .filter(({ user }) => user === name)
    .flatMap(({ credentialInfos }) => credentialInfos.map(({ mechanism }) => mechanism));
}

const topic = (config: Record<string, string> = {}) => createTopic('orders', { config });

describe('accounts', () => {
  it('are made, given another password, and deleted, and each may be said again', async () => {
    const username = uniqueName('acme');
    await twice(() => security.putUser({ username, password: 'one' }));
    expect(await security.users([username, 'nobody'])).toEqual(new Set([username]));
    expect([...(await security.users())]).toEqual(expect.arrayContaining(['admin', 'parley', username]));
    expect(await signsIn({ username, password: 'one' })).toBe(true);
    await security.putUser({ username, password: 'two' });
    expect(await signsIn({ username, password: 'two' })).toBe(true);
    expect(await signsIn({ username, password: 'one' })).toBe(false);
    await twice(() => security.deleteUser(username));
    expect(await security.users([username])).toEqual(new Set());
    expect(await signsIn({ username, password: 'two' })).toBe(false);
  });

  it('are seen and deleted, too, where somebody else gave them a password for SCRAM-SHA-256', async () => {
    const [theirs, both] = [uniqueName('acme'), uniqueName('acme')];
    await giveSha256(theirs);
    await security.putUser({ username: both, password: 'ours' });
    await giveSha256(both);
    await eventually(async () => (await mechanismsOf(both)).length === 2 && (await mechanismsOf(theirs)).length === 1);
    expect(await security.users([theirs, both])).toEqual(new Set([theirs, both]));
    await twice(() => security.deleteUser(theirs));
    await twice(() => security.deleteUser(both));
    expect(await security.users([theirs, both])).toEqual(new Set());
    expect([await mechanismsOf(theirs), await mechanismsOf(both)]).toEqual([[], []]);
  });
});

describe('ACLs', () => {
  it('are added and deleted one by one, field by field', async () => {
    const principal = `User:${uniqueName('acme')}`;
    const list = [
      acl(principal),
      acl(principal, { operation: 'Describe' }),
      acl(principal, { resource: 'group', name: 'partner.acme.', pattern: 'prefixed' }),
      acl(principal, { resource: 'group', name: 'partner.acme.', pattern: 'literal' }),
      acl(principal, { resource: 'transactional-id', name: 'acme', operation: 'Write' }),
      acl(principal, { resource: 'cluster', name: 'kafka-cluster', operation: 'IdempotentWrite' }),
      acl(principal, { permission: 'deny', operation: 'Write', host: '10.0.0.1' }),
    ];
    const other = acl(`${principal}.eu`);
    await twice(() => security.addAcls([...list, other]));
    const found = await security.acls({ principal });
    expect(found).toHaveLength(list.length);
    expect(found).toEqual(expect.arrayContaining(list));
    expect(await security.acls()).toEqual(expect.arrayContaining([...list, other]));
    await twice(() => security.deleteAcls([list[3] as Acl, acl(principal, { name: 'never' })]));
    expect(await security.acls({ principal })).toEqual(expect.arrayContaining(list.filter((_, index) => index !== 3)));
    expect(await security.acls({ principal })).toHaveLength(list.length - 1);
    await security.deleteAcls(list);
    expect(await security.acls({ principal })).toEqual([]);
    expect(await security.acls({ principal: other.principal })).toEqual([other]);
    await security.addAcls([]);
    await security.deleteAcls([]);
  });
});

describe('quotas', () => {
  it('are set, replaced as a whole, and taken away', async () => {
    const username = uniqueName('acme');
    expect(await security.quota(username)).toEqual({});
    const quota = { producerByteRate: 1_000_000, consumerByteRate: 2_000_000, requestPercentage: 12.5 };
    await twice(() => security.putQuota(username, quota));
    expect(await security.quota(username)).toEqual(quota);
    await security.putQuota(username, { consumerByteRate: 3 });
    expect(await security.quota(username)).toEqual({ consumerByteRate: 3 });
    await twice(() => security.putQuota(username, {}));
    expect(await security.quota(username)).toEqual({});
  });
});

describe('options of topics', () => {
  it('change alone, and say whose they are', async () => {
    const name = await topic({ 'retention.ms': '3600000' });
    await twice(() => security.putTopicOptions(name, { 'compression.type': 'uncompressed' }));
    const options = ['retention.ms', 'compression.type', 'max.message.bytes'];
    expect(await security.topicOptions([name, 'gone'], options)).toEqual(
      new Map([
        [
          name,
          {
            'retention.ms': { value: '3600000', isOwn: true },
            'compression.type': { value: 'uncompressed', isOwn: true },
            'max.message.bytes': { value: '1048588', isOwn: false },
          },
        ],
      ]),
    );
  });

  it('that the broker does not know are refused, and nothing is changed', async () => {
    const name = await topic();
    const change = security.putTopicOptions(name, { 'retention.ms': '1000', 'compression.type': 'magic' });
    expect(await failure(change)).toMatchObject({ code: 'topic-config-invalid', retriable: false });
    const left = (await security.topicOptions([name], ['retention.ms'])).get(name);
    expect(left).toMatchObject({ 'retention.ms': { isOwn: false } });
    expect(await failure(security.putTopicOptions('gone', { 'retention.ms': '1000' }))).toMatchObject({
      code: 'topic-missing',
    });
  });

  it('go with their topic, whose deletion may be said again', async () => {
    const names = [await topic(), await topic()];
    await twice(() => security.deleteTopics([...names, 'never']));
    expect(await security.topicOptions(names, ['retention.ms'])).toEqual(new Map());
  });
});

describe('an account without the right', () => {
  it.each<[verb: string, call: (own: SecurityAdmin) => Promise<unknown>, right: string]>([
    ['lists accounts', (own) => own.users(), 'Describe on the cluster'],
    ['makes an account', (own) => own.putUser({ username: 'x', password: 'y' }), 'Alter on the cluster'],
    ['deletes an account', (own) => own.deleteUser('x'), 'Alter on the cluster'],
    ['lists ACLs', (own) => own.acls(), 'Describe on the cluster'],
    ['adds ACLs', (own) => own.addAcls([acl('User:parley')]), 'Alter on the cluster'],
    ['deletes ACLs', (own) => own.deleteAcls([acl('User:parley')]), 'Alter on the cluster'],
    ['reads a quota', (own) => own.quota('x'), 'DescribeConfigs on the cluster'],
    ['sets a quota', (own) => own.putQuota('x', { producerByteRate: 1 }), 'AlterConfigs on the cluster'],
    ['reads options', (own) => own.topicOptions(['known'], ['retention.ms']), 'DescribeConfigs on topic known'],
    ['changes options', (own) => own.putTopicOptions('known', { 'retention.ms': '1' }), 'AlterConfigs on topic known'],
    ['deletes a topic', (own) => own.deleteTopics(['known']), 'Delete on topic known'],
  ])('%s, and hears which right is missing', async (_verb, call, right) => {
    const own = closing(createSecurityAdmin(secureSettings(kafka, parley)));
    expect(await failure(call(own))).toMatchObject({
      code: 'not-authorized',
      retriable: false,
      hint: `The account "parley" needs the right ${right}.`,
    });
  });

  it('sees no group', async () => {
    const own = closing(createSecurityAdmin(secureSettings(kafka, parley)));
    expect(await own.membersOf('partner.')).toEqual([]);
  });
});

describe('members of groups', () => {
  it.each(['classic', 'consumer'] as const)('are listed by prefix, with the %s protocol', async (groupProtocol) => {
    const name = await topic();
    const [stem, clientId] = [uniqueName('partner'), uniqueName('client')];
    for (const group of [`${stem}.one`, `${stem}x.two`]) {
      const consumer = new Consumer({ ...plainClient, clientId, groupId: group, groupProtocol });
      closing({ close: () => consumer.close(true) });
      const stream = await consumer.consume({ topics: [name], mode: 'earliest', autocommit: false });
      stream.on('error', () => undefined);
      stream.resume();
    }
    await eventually(async () => {
      const members = await security.membersOf(`${stem}.`);
      expect(members).toEqual([{ group: `${stem}.one`, clientId, host: '127.0.0.1' }]);
      return true;
    });
    await eventually(async () => (await security.membersOf(`${stem}`)).length === 2);
  });
});

describe('a broker without authorizer', () => {
  it('is said to have none, and keeps accounts, quotas and options all the same', async () => {
    const own = closing(createSecurityAdmin(settingsFor(stopping(await startKafka()).brokers)));
    for (const work of [own.acls(), own.addAcls([acl('User:x')]), own.deleteAcls([acl('User:x')])]) {
      expect(await failure(work)).toMatchObject({
        code: 'security-disabled',
        retriable: false,
        hint: expect.stringContaining('authorizer.class.name') as string,
      });
    }
    await own.putUser({ username: 'x', password: 'y' });
    expect(await own.users()).toEqual(new Set(['x']));
    await own.putQuota('x', { producerByteRate: 1 });
    expect(await own.quota('x')).toEqual({ producerByteRate: 1 });
  });
});

describe('three brokers', () => {
  it('all know of a change when it is done, whichever was asked, and when one of them is gone', async () => {
    const cluster = stopping(
      await startKafkaCluster({
        extraProperties: {
          'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
          'super.users': 'User:ANONYMOUS',
        },
      }),
    );
    const at = cluster.brokers.split(',').map((broker) => closing(createSecurityAdmin(settingsFor(broker))));
    const [list, quota] = [[acl('User:acme.1')], { producerByteRate: 1000 }];
    const name = await createTopic('orders', { brokers: cluster.brokers, replicationFactor: 3 });
    const change = async (through: SecurityAdmin, username: string, retention: string) => {
      await through.putUser({ username, password: 'secret' });
      await through.addAcls(list);
      await through.putQuota(username, quota);
      await through.putTopicOptions(name, { 'retention.ms': retention });
    };
    const known = async (by: SecurityAdmin, username: string, retention: string) => {
      expect(await by.users([username])).toEqual(new Set([username]));
      expect(await by.acls()).toEqual(list);
      expect(await by.quota(username)).toEqual(quota);
      const options = await by.topicOptions([name], ['retention.ms']);
      expect(options.get(name)).toEqual({ 'retention.ms': { value: retention, isOwn: true } });
    };
    for (const [index, through] of at.entries()) {
      await change(through, `acme.${index}`, `100${index}`);
      for (const by of at) await known(by, `acme.${index}`, `100${index}`);
    }
    await cluster.kill(0);
    const rest = at.slice(1);
    await eventually(() => change(rest[0] as SecurityAdmin, 'acme.9', '2000').then(() => true));
    for (const by of rest) await known(by, 'acme.9', '2000');
    await rest[0]?.deleteTopics([name]);
    for (const by of rest) expect(await by.topicOptions([name], ['retention.ms'])).toEqual(new Map());
  });
});
