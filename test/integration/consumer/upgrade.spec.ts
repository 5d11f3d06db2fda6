import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations';
import { migrate } from '../../../src/platform/database';
import { migrateDatabase } from '../../support/database';
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

/** Brings the database as far as an older build did, works on it, and leaves. */
async function asBefore(url: string, work: (old: DataSource) => Promise<unknown>): Promise<void> {
  const migrations = MIGRATIONS.slice(0, BY_PARTNER);
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
});
