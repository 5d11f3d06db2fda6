import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { startKafka, type SingleKafka } from '../../../scripts/servers/index.mjs';
import { createLanePublisher } from '../../../src/messaging/kafka';
import { testConfig } from '../../support/config';
import { createTopic, readAll } from '../../support/kafka';
import { addRows, Bench, until } from './harness';

const firsts = (ids: readonly string[]) => [...new Set(ids)];

describe('a relay whose broker goes away', () => {
  const bench = new Bench();
  let kafka: SingleKafka;
  beforeAll(async () => {
    kafka = await startKafka();
  });
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
    await until('every lane to fail', () => relay.state.failingLanes.length === 3);
    expect(relay.state).toMatchObject({ role: 'owner', lastError: undefined });
    // Of these 40 transactions one may have been running when the relay last looked: its rows are counted when they are read.
    await until('the metrics', () => relay.state.pendingRows >= 39 * 30);
    expect(relay.state.oldestPendingAgeMs).toBeGreaterThan(0);
    await kafka.restart();
    await until('all rows', () => relay.state.pendingRows === 0);
    await add(1);
    // Not by what is pending: until the relay has looked, it knows nothing of these rows.
    const latest = ids.map((lane) => lane.at(-1));
    let log: Awaited<ReturnType<typeof readAll>> = [];
    const arrived = async () => {
      log = await readAll(topic, kafka.brokers);
      const seen = new Set(log.map((record) => String(record.headers['ce_id'])));
      return latest.every((id) => id !== undefined && seen.has(id));
    };
    await until('the rows after it', arrived);
    for (const partition of [0, 1, 2]) {
      const delivered = log.filter((record) => record.partition === partition).map((r) => String(r.headers['ce_id']));
      expect(firsts(delivered)).toEqual(ids[partition]);
    }
    await until('their acknowledgements', () => relay.state.pendingRows === 0);
    expect(relay.state.failingLanes).toEqual([]);
  });

  it('starts without it and sends when it comes', async () => {
    const topic = await createTopic('late', { brokers: kafka.brokers });
    const client = await bench.client();
    const [id] = await addRows(client, [{ key: 'a', topic }]);
    await kafka.kill();
    const relay = bench.relay(publisher());
    await until('a failing lane', () => relay.state.failingLanes.length === 1);
    await kafka.restart();
    await until('the row', () => relay.state.pendingRows === 0);
    expect((await readAll(topic, kafka.brokers)).map((r) => String(r.headers['ce_id']))).toContain(id);
  });

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
    await until('its rows', () => relay.state.pendingRows === 0);
    expect((await readAll(missing, kafka.brokers)).map((r) => String(r.headers['ce_id']))).toEqual(waiting);
  });
});
