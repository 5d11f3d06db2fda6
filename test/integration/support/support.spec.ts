import { Client } from 'pg';
import { startKafkaCluster, startPostgres } from '../../../scripts/servers/index.mjs';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { createTopic, produce, readAll } from '../../support/kafka';
import { startTcpProxy } from '../../support/tcp-proxy';

describe('the test support', () => {
  it('gives each spec a migrated database of its own', async () => {
    const client = new Client({ connectionString: await freshDatabase() });
    await client.connect();
    const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM schema_migration');
    await client.end();
    expect(rows[0]?.n).toBeGreaterThan(0);
  });

  it('reads back what was produced, byte for byte', async () => {
    const topic = await createTopic('support', { partitions: 3 });
    await produce(topic, [
      { partition: 1, key: 'k', value: Buffer.from([0, 255, 1]), headers: { ce_id: 'a' } },
      { partition: 1, key: 'k', value: null },
      { partition: 2, value: 'x' },
    ]);
    const records = await readAll(topic);
    expect(records.map(({ partition, offset }) => [partition, offset])).toEqual([
      [1, 0n],
      [1, 1n],
      [2, 0n],
    ]);
    expect(records[0]).toMatchObject({ key: Buffer.from('k'), value: Buffer.from([0, 255, 1]) });
    expect(records[0]?.headers['ce_id']).toEqual(Buffer.from('a'));
    expect(records[1]?.value).toBeNull();
    expect(records[2]?.key).toBeNull();
  });

  it('brings a killed PostgreSQL back on the same port with what was committed', async () => {
    const postgres = await startPostgres({ durable: true });
    try {
      await postgres.createDatabase('kept');
      await postgres.kill();
      await postgres.restart();
      const client = new Client({ connectionString: postgres.url('kept') });
      await client.connect();
      await client.end();
    } finally {
      await postgres.stop();
    }
  });

  it('keeps a cluster of three working while one broker is killed', async () => {
    const cluster = await startKafkaCluster({ brokers: 3 });
    const { brokers } = cluster;
    try {
      const topic = await createTopic('cluster', { partitions: 3, replicationFactor: 3, brokers });
      await produce(topic, [{ partition: 0, value: 'before' }], brokers);
      await cluster.kill(1);
      await eventually(() => produce(topic, [{ partition: 0, value: 'during' }], brokers).then(() => true));
      await cluster.restart(1);
      const values = (await readAll(topic, brokers)).map((record) => record.value?.toString());
      expect(new Set(values)).toEqual(new Set(['before', 'during']));
    } finally {
      await cluster.stop();
    }
  });

  it('makes the wire bad on demand', async () => {
    const url = new URL(process.env['TEST_PG_URL'] ?? '');
    const proxy = await startTcpProxy({ port: Number(url.port) });
    /** `patience`: ms of a test that expects no answer. */
    const connect = async (patience = 30_000) => {
      const client = new Client({
        connectionString: `postgres://parley:parley@${proxy.address}/postgres`,
        connectionTimeoutMillis: patience,
      });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    };
    try {
      const client = await connect();
      await client.query('SELECT 1');
      proxy.cutAll();
      await expect(eventually(() => client.query('SELECT 1'), { timeout: 200 })).rejects.toThrow('Not within');
      proxy.refuse(true);
      await expect(connect()).rejects.toThrow();
      proxy.refuse(false);
      proxy.dropResponses(true);
      await expect(connect(300)).rejects.toThrow('timeout');
      proxy.dropResponses(false);
      await (await connect()).end();
    } finally {
      await proxy.close();
    }
  });
});
