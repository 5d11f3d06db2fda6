import 'reflect-metadata';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { CONTRACTS, contractsFor } from '../../../../src/contracts';
import { ChannelCatalog } from '../../../../src/messaging/channels';
import { createKafkaAdmin, type KafkaAdmin } from '../../../../src/messaging/kafka';
import { type PartnerFile, PartitionCheck, Partners } from '../../../../src/partners';
import type { Config } from '../../../../src/platform/config';
import { Database } from '../../../../src/platform/database';
import { eventually } from '../../../support/eventually';
import { freshDatabase } from '../../../support/database';
import { deleteTopic, uniqueName } from '../../../support/kafka';
import { testConfig } from '../../../support/config';
import { onboard } from '../../../support/partners';

let database: Database;
let admin: KafkaAdmin;
let config: Config;

beforeAll(async () => {
  const url = await freshDatabase();
  database = new Database(await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize());
  config = testConfig(url);
  admin = createKafkaAdmin(config);
});

afterAll(async () => {
  await admin.close();
  await database.dataSource.destroy();
});

const file = (partner = uniqueName('acme')): PartnerFile => ({
  ...{ partner, name: 'Acme', partitions: 3, topics: { retentionHours: 48 } },
});
const add = (partner: PartnerFile) => onboard(database, config, partner);

describe('onboarding a partner where the broker has no accounts', () => {
  it('makes its topics, its channels and its row', async () => {
    const plan = file();
    await add(plan);
    const catalog = new ChannelCatalog(database);
    await catalog.load();
    expect(catalog.find(`orders.${plan.partner}.request.v1`)).toMatchObject({
      partner: plan.partner,
      direction: 'out',
      partitions: 3,
    });
    expect(catalog.find(`orders.${plan.partner}.response.v1`)).toMatchObject({
      partner: plan.partner,
      direction: 'in',
      partitions: 3,
    });
    const topics = await admin.describeTopics([
      `orders.${plan.partner}.request.v1`,
      `orders.${plan.partner}.response.v1`,
    ]);
    expect([...topics.values()].map((topic) => topic.partitions)).toEqual([3, 3]);
    expect(await new Partners(database).find(plan.partner)).toMatchObject({
      id: plan.partner,
      name: 'Acme',
      state: 'active',
    });
  });

  it('changes nothing the second time and completes what a failure left', async () => {
    const plan = file();
    await add(plan);
    await deleteTopic(`orders.${plan.partner}.response.v1`);
    await add(plan);
    expect((await admin.describeTopics([`orders.${plan.partner}.response.v1`])).size).toBe(1);
    const [count] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM channel WHERE partner = :id', {
      id: plan.partner,
    });
    expect(count?.n).toBe(new Set(contractsFor(CONTRACTS, plan.partner).map((contract) => contract.topic)).size);
  });

  it('makes a dead letter topic beside each topic that the partner writes, and no channel of it', async () => {
    const plan = file();
    const response = `orders.${plan.partner}.response.v1`;
    await add(plan);
    const topics = await admin.describeTopics([response, `${response}-dlt`, `orders.${plan.partner}.request.v1-dlt`]);
    expect([...topics.values()]).toEqual([
      {
        ...{ topic: response, partitions: 3, replicas: 1, maxMessageBytes: 1_048_588 },
        ...{ keepsMs: (48 + 168) * 3_600_000, retentionMs: 48 * 3_600_000 },
      },
      {
        topic: `${response}-dlt`,
        partitions: 3,
        replicas: 1,
        maxMessageBytes: 1_048_588 + 65_536,
        keepsMs: expect.any(Number) as number,
        retentionMs: expect.any(Number) as number,
      },
    ]);
    const catalog = new ChannelCatalog(database);
    await catalog.load();
    expect(catalog.all().filter(({ topic }) => topic.endsWith('-dlt'))).toEqual([]);
    // A partner from before there were such topics gets them by the same command.
    await deleteTopic(`${response}-dlt`);
    await add(plan);
    expect((await admin.existing([`${response}-dlt`])).size).toBe(1);
  });

  it('says of each channel which format it speaks: that of the contract, else that of the partner', async () => {
    const plan: PartnerFile = { ...file(), format: 'protobuf' };
    await add(plan);
    const catalog = new ChannelCatalog(database);
    await catalog.load();
    const formatOf = (topic: string) => catalog.find(topic)?.format;
    expect(formatOf(`orders.${plan.partner}.request.v1`)).toBe('protobuf');
    expect(formatOf(`orders.${plan.partner}.response.v1`)).toBe('protobuf');
    expect(formatOf(`errors.${plan.partner}.v1`)).toBe('json');
  });

  it('adds what is new since, for a partner of an older build', async () => {
    const plan = file();
    await add(plan);
    const topic = `errors.${plan.partner}.v1`;
    await database.query('DELETE FROM channel WHERE topic = :topic', { topic });
    await deleteTopic(topic);
    const catalog = new ChannelCatalog(database);
    await catalog.load();
    expect(catalog.find(topic)).toBeUndefined();
    await add(plan);
    expect(await catalog.currentVersion()).toBeGreaterThan(catalog.version);
    await catalog.load();
    expect(catalog.find(topic)).toMatchObject({ direction: 'out', format: 'json' });
    expect((await admin.describeTopics([topic])).size).toBe(1);
  });

  it('moves the version of the set of channels, which running consumers poll', async () => {
    const catalog = new ChannelCatalog(database);
    await catalog.load();
    await add(file());
    expect(await catalog.currentVersion()).toBeGreaterThan(catalog.version);
  });

  it('refuses a topic that has another number of partitions, before anything is written', async () => {
    const plan = file();
    await add(plan);
    await database.query('DELETE FROM channel WHERE partner = :id', { id: plan.partner });
    await expect(add({ ...plan, partitions: 5 })).rejects.toMatchObject({
      code: 'partition-count-differs',
      hint: expect.stringContaining('--partitions 3') as string,
    });
    expect(await database.query('SELECT 1 FROM channel WHERE partner = :id', { id: plan.partner })).toEqual([]);
  });

  it.each([
    ['partition count', { partitions: 5 }, '--partitions 3'],
    ['format', { format: 'json' as const }, '--format avro'],
    ['rule for records without an id', { allowMissingId: true }, '--allow-missing-id'],
  ])('refuses another %s for channels that are there, before any topic is made', async (_, change, asIs) => {
    const plan = file();
    await add(plan);
    const topic = `orders.${plan.partner}.request.v1`;
    await deleteTopic(topic);
    await expect(add({ ...plan, ...change })).rejects.toMatchObject({
      code: 'channel-differs',
      message: expect.stringContaining(topic) as string,
      hint: expect.stringContaining(asIs) as string,
    });
    expect(await admin.describeTopics([topic])).toEqual(new Map());
  });

  it.each(['Acme', '4711', 'ac.me', 'a'.repeat(33), ''])('refuses the id "%s"', async (id) => {
    await expect(add(file(id))).rejects.toMatchObject({
      code: 'partner-spec-invalid',
      violations: [{ pointer: '/partner' }],
    });
  });
});

describe('the comparison of channels with the broker', () => {
  it('names a topic that is missing and one whose partition count differs, until they are mended', async () => {
    const [gone, grown] = [file(), file()];
    await add(gone);
    await add(grown);
    const count = (partitions: number) =>
      database.query(`UPDATE channel SET partitions = ${partitions} WHERE topic = :topic`, {
        topic: `orders.${grown.partner}.request.v1`,
      });
    await deleteTopic(`orders.${gone.partner}.request.v1`);
    await count(2);
    const check = new PartitionCheck(new ChannelCatalog(database), admin, pino({ level: 'silent' }), undefined, 50);
    const stopping = new AbortController();
    const running = check.run(stopping.signal);
    try {
      await eventually(() => check.trouble?.includes(`orders.${gone.partner}.request.v1 does not exist`));
      expect(check.trouble).toContain(`orders.${grown.partner}.request.v1 has 3 partitions, its channel 2`);
      await add(gone);
      await count(3);
      await eventually(() => !check.trouble?.includes(gone.partner) && !check.trouble?.includes(grown.partner));
    } finally {
      stopping.abort(new Error('done'));
      await expect(running).rejects.toThrow('done');
    }
  });
});
