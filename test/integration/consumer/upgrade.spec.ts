import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations';
import { migrate } from '../../../src/platform/database';
import { migrateDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { addShipments, appliedSteps, ELSEWHERE, openWorld, parkedKeys, parkedRows, run, Tape } from './harness';

/** How many migrations there were when a partner's key was parked for all of its topics. */
const BY_PARTNER = 5;

async function emptyDatabase(): Promise<string> {
  const name = `t_${process.env['TEST_PG_RUN']}_${randomBytes(5).toString('hex')}`;
  const client = new Client({ connectionString: `${process.env['TEST_PG_URL']}postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`).finally(() => client.end());
  return `${process.env['TEST_PG_URL']}${name}`;
}

/** … when partners had no state that could be changed. */
const WITHOUT_STATES = 15;

/** Brings the database as far as an older build did, works on it, and leaves. */
async function asBefore(url: string, work: (old: DataSource) => Promise<unknown>, count = BY_PARTNER): Promise<void> {
  const migrations = MIGRATIONS.slice(0, count);
  const old = await new DataSource({
    type: 'postgres',
    url,
    migrations,
    migrationsTableName: 'schema_migration',
    installExtensions: false,
  }).initialize();
  await migrate(old);
  await work(old).finally(() => old.destroy());
}

describe('messages that an older build parked', () => {
  test('hold what comes later in their topic, and nothing in others', async () => {
    const url = await emptyDatabase();
    await asBefore(url, (old) =>
      old.query(`
        INSERT INTO partner (id, name, created_at) VALUES ('acme', 'acme', now());
        INSERT INTO channel (partner, topic, direction, format, partitions, max_message_bytes, created_at)
          VALUES ('acme', 'orders.acme.response.v1', 'in', 'json', 12, 1048576, now());
        INSERT INTO inbox SELECT id, 'old', '\\x00', 0, 0, now() FROM channel;
        INSERT INTO parked_key VALUES ('acme', 'order-1', '2026-01-01Z'), ('acme', 'drained-long-ago', '2026-01-01Z');
        INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, header_names, header_values, parked_at)
          SELECT 'acme', 'order-1', 'waiting', id, 'old', topic, 0, 0, now(), '{}', '{}', now() FROM channel;`),
    );
    await migrateDatabase(url);
    const world = await openWorld(url);
    try {
      const orders = new Tape('orders.acme.response.v1', 0, 1n);
      const shipments = new Tape(await addShipments(world, 'acme'));
      await run(world, [orders.record(), orders.record({ key: 'order-2' })]);
      await run(world, [shipments.record({ contract: ELSEWHERE })]);
      expect((await parkedRows(world, 'acme')).map((row) => [row.offset, row.state])).toEqual([
        ['0', 'waiting'],
        ['1', 'held'],
      ]);
      expect(await appliedSteps(world, 'acme')).toEqual(['2', '0']);
      expect(await parkedKeys(world, 'acme')).toEqual(['order-1']);
      expect(await world.database.query('SELECT since FROM parked_key')).toEqual([{ since: new Date('2026-01-01Z') }]);
    } finally {
      await world.close();
    }
  });

  test('hold their topics each, also those that it parks while the database is brought up to date', async () => {
    const url = await emptyDatabase();
    // As consumers do it: they lock no channel.
    const park = (key: string, channelId: number) => `
      INSERT INTO parked_key VALUES ('acme', '${key}', now()) ON CONFLICT DO NOTHING;
      INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, header_names, header_values, parked_at)
        VALUES ('acme', '${key}', 'waiting', ${channelId}, '${key}', '', 0, 0, now(), '{}', '{}', now());`;
    const topics = ['orders.acme.response.v1', 'shipments.acme.request.v1'];
    await asBefore(url, async (old) => {
      await old.query(`INSERT INTO partner (id, name, created_at) VALUES ('acme', 'acme', now())`);
      for (const topic of topics)
        await old.query(
          `INSERT INTO channel (partner, topic, direction, format, partitions, max_message_bytes, created_at) VALUES ('acme', $1, 'in', 'json', 12, 1048576, now())`,
          [topic],
        );
      await old.query(park('order-1', 1) + park('order-1', 2));
    });
    const [old, watch] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
    await Promise.all([old.connect(), watch.connect()]);
    try {
      await old.query(`BEGIN; ${park('order-2', 1)}`);
      const migrating = migrateDatabase(url);
      await eventually(async () => {
        const { rowCount } = await watch.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      });
      await old.query('COMMIT');
      await migrating;
      const { rows } = await old.query<{ topic: string; key: string }>(
        'SELECT topic, key FROM parked_key JOIN channel ON channel.id = channel_id ORDER BY key, topic',
      );
      expect(rows).toEqual([
        { topic: topics[0], key: 'order-1' },
        { topic: topics[1], key: 'order-1' },
        { topic: topics[0], key: 'order-2' },
      ]);
    } finally {
      await Promise.all([old.end(), watch.end()]);
    }
  });
});

describe('a partner that an older build took as suspended', () => {
  test('is stopped since the upgrade, so that its deadlines wait for its resumption', async () => {
    const url = await emptyDatabase();
    await asBefore(
      url,
      (old) =>
        old.query(`INSERT INTO partner (id, name, state, created_at)
          VALUES ('acme', 'acme', 'suspended', now()), ('umbra', 'umbra', 'active', now())`),
      WITHOUT_STATES,
    );
    await migrateDatabase(url);
    const world = await openWorld(url);
    try {
      const stops = await world.database.query('SELECT partner, resumed_at FROM partner_stop', {});
      expect(stops).toEqual([{ partner: 'acme', resumed_at: null }]);
    } finally {
      await world.close();
    }
  });
});
