import 'reflect-metadata';
import type { Acl } from '../../../../src/messaging/kafka';
import { type PartnerFile, specOf } from '../../../../src/partners';
import { Accounts } from '../../../../src/partners/accounts';
import { guardedKafka } from '../../../support/guarded-kafka';
import { createTopic, uniqueName } from '../../../support/kafka';
import { ONBOARDER } from '../../../support/partners';
import { openRoom, type Room } from './guarded';

let room: Room;

beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const fileOf = (partner = uniqueName('acme'), more: Partial<PartnerFile> = {}): PartnerFile => ({
  ...{ partner, format: 'json', partitions: 2 },
  ...more,
});

const rightsOf = async (username: string): Promise<string[]> =>
  (await room.security.acls({ principal: `User:${username}` }))
    .map(
      ({ operation, resource, name, pattern }) =>
        `${operation} ${resource} ${name}${pattern === 'prefixed' ? '*' : ''}`,
    )
    .toSorted();

const attempt = expect.any(String) as string;

describe('onboarding a partner at a guarded broker', () => {
  it('gives the partner exactly what it needs, and Parley what it needs for it', async () => {
    const file = fileOf();
    const { partner } = file;
    const { account } = await room.apply(file);
    expect(account).toMatchObject({
      username: `${partner}.1`,
      password: expect.stringMatching(/^[\w-]{32}$/) as string,
    });
    expect(await rightsOf(`${partner}.1`)).toEqual([
      `Describe group partner.${partner}.*`,
      `Describe topic errors.${partner}.v1`,
      `Describe topic orders.${partner}.request.v1`,
      `Describe topic orders.${partner}.response.v1`,
      `Describe topic shipments.${partner}.request.v1`,
      `Describe topic shipments.${partner}.response.v1`,
      `Read group partner.${partner}.*`,
      `Read topic errors.${partner}.v1`,
      `Read topic orders.${partner}.request.v1`,
      `Read topic shipments.${partner}.response.v1`,
      `Write topic orders.${partner}.response.v1`,
      `Write topic shipments.${partner}.request.v1`,
    ]);
    const ours = (await rightsOf('parley')).filter((right) => right.includes(`.${partner}.`));
    const of = (topic: string, operation: string) =>
      ['Describe', 'DescribeConfigs', operation].map((one) => `${one} topic ${topic}`);
    expect(ours).toEqual(
      [
        ...of(`errors.${partner}.v1`, 'Write'),
        ...of(`orders.${partner}.request.v1`, 'Write'),
        ...of(`orders.${partner}.response.v1`, 'Read'),
        ...of(`orders.${partner}.response.v1-dlt`, 'Write'),
        ...of(`shipments.${partner}.request.v1`, 'Read'),
        ...of(`shipments.${partner}.request.v1-dlt`, 'Write'),
        ...of(`shipments.${partner}.response.v1`, 'Write'),
      ].toSorted(),
    );
    expect(await room.security.quota(`${partner}.1`)).toEqual({
      ...{ producerByteRate: 2_097_152, consumerByteRate: 8_388_608, requestPercentage: 100 },
    });
  });

  it('says what it would do, and does nothing', async () => {
    const file = fileOf();
    const { partner } = file;
    const planned = await room.planned(file);
    expect(planned).toContain(
      `+ topic orders.${partner}.response.v1 (2 partitions, 1 copy, compression.type=producer, max.message.bytes=1048588, min.insync.replicas=1, retention.ms=604800000, message.timestamp.type=LogAppendTime)`,
    );
    expect(planned).toContain(`+ user ${partner}.1 (scram-sha-512)`);
    expect(planned).toContain(`+ acl User:${partner}.1 may Read topic orders.${partner}.request.v1`);
    expect(planned).toContain(
      `~ quota ${partner}.1 producerByteRate none → 2097152, consumerByteRate none → 8388608, requestPercentage none → 100`,
    );
    expect(planned).toContain(`+ partner ${partner}`);
    expect(await room.admin.existing([`orders.${partner}.request.v1`])).toEqual(new Set());
    expect(await rightsOf(`${partner}.1`)).toEqual([]);
    expect(await room.database.query('SELECT 1 FROM partner WHERE id = :partner', { partner })).toEqual([]);
  });

  it('changes what a changed file asks for, and nothing else', async () => {
    const file = fileOf();
    const { partner } = file;
    await room.apply(file);
    expect(await room.planned(file)).toEqual([]);
    const changed: PartnerFile = {
      ...{ ...file, name: 'Acme Ltd', quotas: { producerBytesPerSecond: 1000, requestPercent: 0 } },
      topics: { retentionHours: 24, maxMessageBytes: 2_000_000 },
    };
    const planned = await room.planned(changed);
    expect(planned).toContain(
      `~ topic orders.${partner}.request.v1 max.message.bytes 1048588 → 2000000, retention.ms 604800000 → 86400000`,
    );
    expect(planned).toContain(
      `~ topic orders.${partner}.response.v1-dlt max.message.bytes 1114124 → 2065536, retention.ms 604800000 → 86400000`,
    );
    expect(planned).toContain(`~ quota ${partner}.1 producerByteRate 2097152 → 1000, requestPercentage 100 → none`);
    expect(planned).toContain(`~ channel orders.${partner}.request.v1 maxMessageBytes 1048588 → 2000000`);
    expect(planned.every((line) => line.startsWith('~'))).toBe(true);
    expect((await room.apply(changed)).account).toBeUndefined();
    expect(await room.planned(changed)).toEqual([]);
    expect(await room.security.quota(`${partner}.1`)).toEqual({ producerByteRate: 1000, consumerByteRate: 8_388_608 });
    const rows = await room.database.query<{ bytes: number }>(
      'SELECT DISTINCT max_message_bytes AS bytes FROM channel WHERE partner = :partner',
      { partner },
    );
    expect(rows).toEqual([{ bytes: 2_000_000 }]);
  });

  it('refuses to make messages smaller, since accepted ones must stay sendable', async () => {
    const file = fileOf();
    await room.apply(file);
    const smaller = { ...file, topics: { maxMessageBytes: 100_000 } };
    expect(await room.planned(smaller)).toContainEqual(expect.stringContaining('is not made smaller') as string);
    await expect(room.apply(smaller)).rejects.toMatchObject({ code: 'channel-differs' });
  });

  it('takes over what an earlier version made, and says so', async () => {
    const file = fileOf();
    const { partner } = file;
    await room.apply(file);
    await room.database.query('DELETE FROM partner_resource WHERE partner = :partner', { partner });
    await room.database.query('DELETE FROM partner_spec WHERE partner = :partner', { partner });
    const planned = await room.planned(file);
    expect(planned).toContain(`= topic orders.${partner}.request.v1 (made by an earlier version: ours)`);
    expect(planned).toContain(`= topic orders.${partner}.response.v1-dlt (made by an earlier version: ours)`);
    expect(planned.filter((line) => line.startsWith('+'))).toEqual([]);
    await room.apply(file);
    expect(await room.planned(file)).toEqual([]);
  });

  it('uses a topic that somebody else made as it is, and changes nothing of it', async () => {
    const file = fileOf();
    const topic = `orders.${file.partner}.request.v1`;
    await createTopic(topic, {
      ...{ exact: true, partitions: 2, config: { 'retention.ms': '4711' } },
      brokers: administrator(),
    });
    expect(await room.planned(file)).toContainEqual(
      expect.stringContaining(`! topic ${topic} is there and was not made by Parley: used as it is`) as string,
    );
    await room.apply(file);
    const options = await room.security.topicOptions([topic], ['retention.ms', 'compression.type']);
    expect(options.get(topic)).toMatchObject({
      'retention.ms': { value: '4711' },
      'compression.type': { isOwn: false },
    });
    expect((await room.planned(file)).filter((line) => !line.startsWith(`! topic ${topic} `))).toEqual([]);
  });

  it('shows the rights that others gave, and leaves them', async () => {
    const file = fileOf();
    const { partner } = file;
    await room.apply(file);
    const planted: Acl[] = [
      { ...right(`User:${partner}.1`, `orders.${uniqueName('other')}.request.v1`, 'Read') },
      { ...right('User:auditor', `orders.${partner}.request.v1`, 'Read') },
      { ...right('User:auditor', `orders.${partner}.`, 'Read'), pattern: 'prefixed' },
      { ...right('User:auditor', 'quite.another.topic', 'Read') },
    ];
    await room.security.addAcls(planted);
    const planned = await room.planned(file, true);
    expect(planned.toSorted()).toEqual(
      planted
        .slice(0, 3)
        .map(
          ({ principal, name, pattern }) =>
            `! acl ${principal} may Read topic ${name}${pattern === 'prefixed' ? '*' : ''} is there and was not made by Parley: kept as it is`,
        )
        .toSorted(),
    );
    const auditor = uniqueName('auditor');
    await room.security.putUser({ username: auditor, password: 'of-somebody-else' });
    await room.security.putQuota(auditor, { producerByteRate: 4711 });
    const topic = await createTopic(`orders.${partner}.of-others`, { brokers: administrator() });
    // Other specs onboard their partners at the same broker at the same time.
    const foreign = async () => ({
      acls: (await room.security.acls()).filter(({ principal }) => principal === 'User:auditor'),
      users: await room.security.users([auditor]),
      quota: await room.security.quota(auditor),
      options: await room.security.topicOptions([topic], ['retention.ms', 'compression.type']),
    });
    const before = await foreign();
    await room.apply({ ...file, name: 'Acme Ltd', topics: { retentionHours: 24 } }, true);
    expect(await foreign()).toEqual(before);
    expect((await room.security.acls({ principal: `User:${partner}.1` })).length).toBe(12 + 1);
    await room.security.deleteUser(auditor);
    await room.security.putQuota(auditor, {});
    await room.security.deleteAcls(planted);
  });

  it('takes away what it gave and the file no longer asks for, only when it may delete', async () => {
    const file = fileOf();
    const { partner } = file;
    await room.apply(file);
    const given = right(`User:${partner}.1`, `formerly.${partner}.v1`, 'Read');
    await room.security.addAcls([given]);
    await room.database.query(
      `INSERT INTO partner_resource (partner, kind, name, created_at) VALUES (:partner, 'acl', :name, now())`,
      { partner, name: `User:${partner}.1 may Read topic formerly.${partner}.v1` },
    );
    expect(await room.planned(file)).toEqual([
      `! acl User:${partner}.1 may Read topic formerly.${partner}.v1 is ours and no longer asked for: kept, for nobody said --allow-delete`,
    ]);
    await room.apply({ ...file, name: 'A' });
    expect(await rightsOf(`${partner}.1`)).toContain(`Read topic formerly.${partner}.v1`);
    expect(await room.planned({ ...file, name: 'A' }, true)).toEqual([
      `- acl User:${partner}.1 may Read topic formerly.${partner}.v1`,
    ]);
    await room.apply({ ...file, name: 'A' }, true);
    expect(await rightsOf(`${partner}.1`)).not.toContain(`Read topic formerly.${partner}.v1`);
    expect(await room.planned({ ...file, name: 'A' }, true)).toEqual([]);
  });

  it('refuses an account name that somebody else made', async () => {
    const file = fileOf();
    const username = `${file.partner}.1`;
    await room.security.putUser({ username, password: 'of-somebody-else' });
    expect(await room.planned(file)).toContain(`! user ${username} is there and was not made by Parley`);
    await expect(room.apply(file)).rejects.toMatchObject({ code: 'account-foreign' });
    expect(await room.admin.existing([`orders.${file.partner}.request.v1`])).toEqual(new Set());
    await room.security.deleteUser(username);
  });

  it('makes no user for a partner with certificates of its own, and gives the rights to its subject', async () => {
    const subject = `CN=${uniqueName('acme')},O=Acme Ltd,C=DE`;
    const file = fileOf(undefined, { authentication: { type: 'tls', subject } });
    const { account } = await room.apply(file);
    expect(account).toEqual({ username: subject, password: undefined, attempt });
    expect(await rightsOf(subject)).toContain(`Read topic orders.${file.partner}.request.v1`);
    expect(await room.security.users([subject])).toEqual(new Set());
    expect(await room.planned(file)).toEqual([]);
  });

  it('lets a partner change over to a certificate, and from one to another, while the one before works on', async () => {
    const file = fileOf();
    const { partner } = file;
    const [first, second] = [`CN=${uniqueName('acme')}`, `CN=${uniqueName('acme')}`];
    const by = (subject: string): PartnerFile => ({ ...file, authentication: { type: 'tls', subject } });
    await room.apply(file);
    expect((await room.apply(by(first))).account).toEqual({ username: first, password: undefined, attempt });
    expect(await accountsOf(partner)).toEqual({ [`${partner}.1`]: 'retiring', [first]: 'active' });
    expect(await room.planned(by(first))).toEqual([]);
    expect(await room.planned(by(second))).toContain(`+ user ${second} (tls)`);
    expect((await room.apply(by(second))).account).toEqual({ username: second, password: undefined, attempt });
    expect(await accountsOf(partner)).toMatchObject({ [first]: 'retiring', [second]: 'active' });
    expect(await rightsOf(second)).toEqual(await rightsOf(first));
    expect(await rightsOf(second)).toHaveLength(12);
    // A file of before takes nothing back.
    await room.apply(by(first));
    expect(await accountsOf(partner)).toMatchObject({ [first]: 'retiring', [second]: 'active' });
  });

  it('knows of another account that others made, in place of the one before', async () => {
    const [file, theirs] = [fileOf(), fileOf()];
    const { partner } = file;
    const subject = `CN=${uniqueName('acme')}`;
    const by = (one: PartnerFile): PartnerFile => ({ ...one, authentication: { type: 'tls', subject } });
    await room.apply(file);
    await room.apply(theirs);
    const elsewhere = (one: PartnerFile) => room.elsewhere().apply(specOf(one, room.config), ONBOARDER);
    expect((await elsewhere(by(file))).account).toBeUndefined();
    expect(await accountsOf(partner)).toEqual({ [`${partner}.1`]: 'retiring', [subject]: 'active' });
    await expect(elsewhere(by(theirs))).rejects.toMatchObject({ code: 'account-exists' });
  });
});

const accountsOf = async (partner: string): Promise<Record<string, string>> =>
  Object.fromEntries((await new Accounts(room.database).of(partner)).map(({ username, state }) => [username, state]));

const right = (principal: string, name: string, operation: Acl['operation']): Acl => ({
  ...{ principal, name, operation, resource: 'topic', pattern: 'literal', permission: 'allow', host: '*' },
});

const administrator = () => {
  const { brokers, caFile, admin } = guardedKafka();
  return { brokers, caFile, account: admin };
};
