import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../../migrations';
import { startKafka, startPostgres, type PostgresServer, type SingleKafka } from '../../../scripts/servers/index.mjs';
import { createLanePublisher } from '../../../src/messaging/kafka';
import { migrate } from '../../../src/platform/database';
import { testConfig } from '../../support/config';
import { createTopic, readAll } from '../../support/kafka';
import { startTcpProxy } from '../../support/tcp-proxy';
import { addRows, Bench, connect, RecordingPublisher, until } from './harness';

const firsts = (ids: readonly string[]) => [...new Set(ids)];

describe('a relay whose broker goes away', () => {
  const bench = new Bench();
  let kafka: SingleKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  }, 60_000);
  afterAll(() => kafka.stop());
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  const publisher = () => {
    const config = testConfig(bench.url, { KAFKA_BROKERS: kafka.brokers });
    const made = createLanePublisher(config, pino({ level: 'silent' }), 'relay');
    bench.onClose(() => made.close());
    return made;
  };

  it('waits for it while orders are accepted, and afterwards sends everything in order', async () => {
    const topic = await createTopic('outage', { partitions: 3, brokers: kafka.brokers });
    const client = await bench.client();
    const ids: string[][] = [[], [], []];
    const add = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const rows = Array.from({ length: 30 }, (_, n) => ({ key: `k${n}`, topic, partition: n % 3 }));
        (await addRows(client, rows)).forEach((id, n) => ids[n % 3]?.push(id));
      }
    };
    const relay = bench.relay(publisher(), { pageRows: 100, readAheadRows: 300 });
    await add(10);
    await until('a first send', async () => (await readAll(topic, kafka.brokers)).length > 0);
    await kafka.kill();
    await add(40);
    await until('every lane to fail', () => relay.state.failingLanes.length === 3, 30_000);
    expect(relay.state).toMatchObject({ role: 'owner', lastError: undefined });
    await until('the metrics', () => relay.state.pendingRows >= 1200);
    expect(relay.state.oldestPendingAgeMs).toBeGreaterThan(0);
    await kafka.restart();
    await until('all rows', () => relay.state.pendingRows === 0, 60_000);
    await add(1);
    await until('the row after it', () => relay.state.pendingRows === 0, 30_000);
    const log = await readAll(topic, kafka.brokers);
    for (const partition of [0, 1, 2]) {
      const delivered = log.filter((record) => record.partition === partition).map((r) => String(r.headers['ce_id']));
      expect(firsts(delivered)).toEqual(ids[partition]);
    }
    expect(relay.state.failingLanes).toEqual([]);
  }, 120_000);

  it('starts without it and sends when it comes', async () => {
    const topic = await createTopic('late', { brokers: kafka.brokers });
    const client = await bench.client();
    const [id] = await addRows(client, [{ key: 'a', topic }]);
    await kafka.kill();
    const relay = bench.relay(publisher());
    await until('a failing lane', () => relay.state.failingLanes.length === 1, 30_000);
    await kafka.restart();
    await until('the row', () => relay.state.pendingRows === 0, 60_000);
    expect((await readAll(topic, kafka.brokers)).map((r) => String(r.headers['ce_id']))).toContain(id);
  }, 90_000);

  it('keeps the rows of a lane whose topic is missing, in order, while other lanes flow', async () => {
    const [missing, there] = ['missing-' + randomUUID(), await createTopic('there', { brokers: kafka.brokers })];
    const client = await bench.client();
    const waiting = await addRows(
      client,
      [1, 2, 3].map(() => ({ key: 'a', topic: missing })),
    );
    const relay = bench.relay(publisher());
    await addRows(
      client,
      [1, 2, 3].map(() => ({ key: 'b', topic: there })),
    );
    await until('the others', async () => (await readAll(there, kafka.brokers)).length === 3);
    await until('the failing lane', () => relay.state.failingLanes.length === 1);
    expect(relay.state.failingLanes).toMatchObject([{ topic: missing, partition: 0, rows: 3 }]);
    const { rows } = await client.query<{ sent: boolean }>(
      `SELECT bool_or(pg_visible_in_snapshot(xid, done)) AS sent FROM outbox_message, outbox_cursor WHERE topic = $1`,
      [missing],
    );
    expect(rows).toEqual([{ sent: false }]);
    await createTopic(missing, { exact: true, brokers: kafka.brokers });
    await until('its rows', () => relay.state.pendingRows === 0, 30_000);
    expect((await readAll(missing, kafka.brokers)).map((r) => String(r.headers['ce_id']))).toEqual(waiting);
  }, 60_000);
});

describe('a relay whose lanes fail', () => {
  const bench = new Bench();
  let publisher: RecordingPublisher;
  beforeEach(async () => {
    await bench.open();
    publisher = new RecordingPublisher();
  });
  afterEach(() => bench.close());

  it('holds the cursor back and reads ahead no further than its bound', async () => {
    const client = await bench.client();
    publisher.before = ({ partition }) => {
      if (partition === 1) throw new Error('refused');
    };
    const [stuck] = await addRows(client, [{ key: 'a', partition: 1 }]);
    const relay = bench.relay(publisher, { pageRows: 50, readAheadRows: 200 });
    await until('the failing lane', () => relay.state.failingLanes.length === 1);
    for (let i = 0; i < 10; i++)
      await addRows(
        client,
        Array.from({ length: 50 }, () => ({ key: 'b' })),
      );
    await until('the other lane', () => publisher.sent === 500);
    for (let i = 0; i < 20; i++) {
      await addRows(
        client,
        Array.from({ length: 50 }, () => ({ key: 'a', partition: 1 })),
      );
    }
    await until('the bound', () => (relay.state.failingLanes[0]?.rows ?? 0) >= 200);
    await until('the metrics', () => relay.state.pendingRows >= 1001);
    expect(relay.state.failingLanes[0]?.rows).toBeLessThanOrEqual(250);
    expect(await unsent()).toBe(1501);
    publisher.before = () => undefined;
    await until('all rows', () => publisher.sent === 1501);
    await until('the cursor', async () => (await unsent()) === 0);
    expect(publisher.firsts('orders.acme.request.v1/1')[0]).toBe(stuck);

    async function unsent(): Promise<number> {
      const { rows } = await client.query<{ n: string }>(
        'SELECT count(*) AS n FROM outbox_message, outbox_cursor WHERE NOT pg_visible_in_snapshot(xid, done)',
      );
      return Number(rows[0]?.n);
    }
  });

  it('sends the same rows again, first of their lane, when the answer was lost', async () => {
    const client = await bench.client();
    const ids = await addRows(
      client,
      Array.from({ length: 1200 }, () => ({ key: 'a' })),
    );
    let failures = 3;
    publisher.after = () => {
      if (failures-- > 0) throw new Error('written, and the answer lost');
    };
    bench.relay(publisher);
    await until('all rows', () => new Set(publisher.firsts()).size === 1200);
    expect(publisher.firsts()).toEqual(ids);
    await until('the repeats', () => publisher.sent === 1200 + 3 * 500);
  });

  it('has one outstanding send to a broker, and brokers beside each other', async () => {
    const client = await bench.client();
    let [now, most] = [0, 0];
    publisher.leader = (_, partition) => partition % 2;
    const perBroker = new Map<number, number>();
    publisher.before = async ({ partition }) => {
      const broker = partition % 2;
      perBroker.set(broker, (perBroker.get(broker) ?? 0) + 1);
      if ((perBroker.get(broker) ?? 0) > 1) throw new Error('two at once');
      most = Math.max(most, ++now);
      await delay(2);
      now--;
      perBroker.set(broker, (perBroker.get(broker) ?? 1) - 1);
    };
    const relay = bench.relay(publisher);
    for (let i = 0; i < 20; i++) {
      await addRows(
        client,
        Array.from({ length: 60 }, (_, n) => ({ key: `k${n}`, partition: n % 6 })),
      );
    }
    await until('all rows', () => publisher.sent === 1200);
    expect(most).toBe(2);
    expect(relay.state.failingLanes).toEqual([]);
  });
});

describe('a relay whose database goes away', () => {
  let postgres: PostgresServer;
  const bench = new Bench();
  beforeAll(async () => {
    postgres = await startPostgres({ durable: true });
    await postgres.createDatabase('parley');
    const dataSource = await new DataSource({
      type: 'postgres',
      url: postgres.url('parley'),
      migrations: MIGRATIONS,
      migrationsTableName: 'schema_migration',
      installExtensions: false,
    }).initialize();
    await migrate(dataSource);
    await dataSource.destroy();
  }, 60_000);
  afterAll(() => postgres.stop());
  afterEach(() => bench.close());

  it('loses no committed row and keeps the order of keys when the server is killed under load, again and again', async () => {
    const publisher = new RecordingPublisher();
    publisher.before = () => delay(Math.random() * 2);
    const relay = bench.relay(publisher, { url: postgres.url('parley'), pageRows: 20, readAheadRows: 100 });
    const committed = new Map<string, string[]>();
    const maybe = new Set<string>();
    let writing = true;
    /** Writes one key; what it was not told of may or may not be committed. */
    const write = async (key: string, partition: number) => {
      const mine: string[] = [];
      committed.set(key, mine);
      while (writing) {
        try {
          const client = await connect(postgres.url('parley'));
          try {
            while (writing) {
              const id = randomUUID();
              maybe.add(id);
              await addRows(client, [{ id, key, partition }]);
              maybe.delete(id);
              mine.push(id);
            }
          } finally {
            await client.end().catch(() => undefined);
          }
        } catch {
          await delay(20);
        }
      }
    };
    const writers = Array.from({ length: 6 }, (_, n) => write(`k${n}`, n % 3));
    for (let i = 0; i < 4; i++) {
      await until('some rows', () => publisher.sent > 100 * (i + 1), 30_000);
      await delay(300);
      await postgres.kill();
      await postgres.restart();
      await until('the relay', () => relay.state.role === 'owner', 30_000);
    }
    writing = false;
    await Promise.all(writers);
    const sent = () => new Set(publisher.firsts());
    await until(
      'all rows',
      () => {
        const seen = sent();
        return [...committed.values()].flat().every((id) => seen.has(id));
      },
      30_000,
    );
    const order = publisher.firsts();
    for (const ids of committed.values()) {
      const known = new Set(ids);
      expect(order.filter((id) => known.has(id))).toEqual(ids);
    }
    const client = await bench.client(postgres.url('parley'));
    const { rows } = await client.query<{ id: string }>('SELECT id FROM outbox_message');
    const stored = new Set(rows.map((row) => row.id));
    // Nothing went out that is not in the database; what the writers were not told of is there or not.
    expect(order.filter((id) => !stored.has(id))).toEqual([]);
    const seen = sent();
    expect([...maybe].filter((id) => stored.has(id) && !seen.has(id))).toEqual([]);
  }, 120_000);

  it('starts without it and begins when it comes', async () => {
    await postgres.kill();
    const publisher = new RecordingPublisher();
    const relay = bench.relay(publisher, { url: postgres.url('parley') });
    await until('the trouble', () => relay.state.lastError !== undefined);
    expect(relay.state).toMatchObject({ role: 'connecting', lastError: expect.stringMatching(/ECONNREFUSED/) });
    await postgres.restart();
    await until('the lease', () => relay.state.role === 'owner', 30_000);
    expect(relay.state.lastError).toBeUndefined();
  }, 60_000);

  it('gives up a server that says nothing any more', async () => {
    const proxy = await startTcpProxy({ port: postgres.port });
    bench.onClose(() => proxy.close());
    const url = new URL(postgres.url('parley'));
    url.port = String(proxy.port);
    const relay = bench.relay(new RecordingPublisher(), { url: url.href, leaseMs: 1000, statementTimeoutMs: 1000 });
    await until('the lease', () => relay.state.role === 'owner');
    proxy.pause();
    await until('the trouble', () => relay.state.role !== 'owner', 20_000);
    proxy.resume();
    await until('the lease again', () => relay.state.role === 'owner', 20_000);
  }, 60_000);
});
