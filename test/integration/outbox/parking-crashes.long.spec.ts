import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { startPostgres, type PostgresServer } from '../../../scripts/servers/index.mjs';
import { PublishError } from '../../../src/messaging/kafka';
import { migrateDatabase } from '../../support/database';
import { createTopic, readAll, uniqueName } from '../../support/kafka';
import { addRows, Bench, connect, RecordingPublisher, until } from './harness';

/** A process of our own has begun, and taken up its work, within this on a busy machine, ms. */
const STARTED_MS = 90_000;
const PARKING = { afterMs: 0, lookMs: 50, backoff: { initialMs: 100, maxMs: 200 } };

const count = async (client: Client, table: string) => {
  const { rows } = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
  return rows[0]?.n ?? 0;
};

describe('parking and draining, when the relay is killed or paused', () => {
  const bench = new Bench();
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  const firsts = async (topic: string) => [
    ...new Set((await readAll(topic)).map((record) => String(record.headers['ce_id']))),
  ];
  const process = (name: string, more: Record<string, string> = {}) =>
    bench.relayProcess({ INSTANCE_ID: name, LEASE_MS: '1000', PARKING: JSON.stringify(PARKING), ...more });
  const rows = (topic: string, size: number) => Array.from({ length: size }, () => ({ key: 'a', topic }));

  it('loses nothing and keeps first deliveries in order, wherever it is killed', async () => {
    const [topic, there] = [uniqueName('later'), await createTopic('there')];
    const client = await bench.client();
    const ids: string[] = [];
    const add = async (size: number) => ids.push(...(await addRows(client, [...rows(topic, size)])));
    let child = process('r0');
    const restart = async (name: string, more?: Record<string, string>) => {
      child.kill('SIGKILL');
      child = process(name, more);
      await until(
        'the next owner',
        async () => {
          const { rows: found } = await client.query<{ owner: string | null }>('SELECT owner FROM outbox_cursor');
          return found[0]?.owner?.startsWith(`${name} `) === true;
        },
        STARTED_MS,
      );
    };
    const parked = async (least: number) => {
      await until(
        'the parking',
        async () => {
          await addRows(client, rows(there, 1));
          return (await count(client, 'parked_outbound')) >= least;
        },
        STARTED_MS,
      );
    };
    await add(1200);
    await parked(1200);
    // While it is parked, and with rows that nobody has read.
    child.kill('SIGKILL');
    await add(600);
    await restart('r1');
    await parked(1800);
    await createTopic(topic, { exact: true });
    // In the middle of the drain, between an acknowledgement and its record, again and again.
    for (const [name, sends] of [
      ['r2', '1'],
      ['r3', '2'],
      ['r4', '2'],
    ] as const) {
      await restart(name, { KILL_AFTER_SENDS: sends });
      await until('its end', () => child.signalCode === 'SIGKILL', STARTED_MS);
      await add(100);
    }
    await restart('r5');
    await add(100);
    await until('all rows', async () => (await firsts(topic)).length === ids.length, STARTED_MS);
    expect(await firsts(topic)).toEqual(ids);
    await until('an empty table', async () => (await count(client, 'parked_outbound')) === 0);
    expect(await count(client, 'parked_lane')).toBe(0);
  }, 480_000);

  it('is not undone by an owner that was stopped for longer than its lease and continued', async () => {
    const [topic, there] = [uniqueName('paused'), await createTopic('there')];
    const client = await bench.client();
    const child = process('paused');
    const ids = await addRows(client, rows(topic, 700));
    await until(
      'the parking',
      async () => {
        await addRows(client, rows(there, 1));
        return (await count(client, 'parked_outbound')) === 700;
      },
      STARTED_MS,
    );
    child.kill('SIGSTOP');
    ids.push(...(await addRows(client, rows(topic, 300))));
    process('other');
    await until(
      'the takeover',
      async () => {
        const { rows: found } = await client.query<{ owner: string | null }>('SELECT owner FROM outbox_cursor');
        return found[0]?.owner?.startsWith('other ') === true;
      },
      STARTED_MS,
    );
    await createTopic(topic, { exact: true });
    await until('the drain', async () => (await count(client, 'parked_lane')) === 0);
    child.kill('SIGCONT');
    ids.push(...(await addRows(client, rows(topic, 300))));
    await until('all rows', async () => (await firsts(topic)).length === ids.length);
    expect(await firsts(topic)).toEqual(ids);
    expect([await count(client, 'parked_lane'), await count(client, 'parked_outbound')]).toEqual([0, 0]);
  }, 300_000);
});

describe('parking and draining, when the database is killed', () => {
  const bench = new Bench();
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres({ durable: true });
    await postgres.createDatabase('parley');
    await migrateDatabase(postgres.url('parley'));
  });
  afterAll(() => postgres.stop());
  afterEach(() => bench.close());

  it('loses no committed row and keeps the order of keys, though the last moves and parkings are forgotten', async () => {
    const url = postgres.url('parley');
    const publisher = new RecordingPublisher();
    let broken = true;
    publisher.before = async ({ topic, partition }) => {
      await delay(Math.random() * 2);
      if (partition === 1 && broken) throw new PublishError('topic-missing', 'refused', topic, partition, 'gone');
    };
    const relay = bench.relay(publisher, { url, pageRows: 50, readAheadRows: 500, parking: PARKING });
    const committed = new Map<string, string[]>();
    let writing = true;
    const write = async (key: string, partition: number) => {
      const mine: string[] = [];
      committed.set(key, mine);
      while (writing) {
        try {
          const client = await connect(url);
          try {
            while (writing) {
              const id = randomUUID();
              await addRows(client, [{ id, key, partition }]);
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
    const parks = () => relay.state.parkedLanes.length > 0;
    for (let round = 0; round < 3; round++) {
      broken = true;
      await until('the parking', parks);
      await postgres.kill();
      await postgres.restart();
      await until('the relay', () => relay.state.role === 'owner');
      await until('the parking again', parks);
      broken = false;
      const sent = publisher.lanes.get('orders.acme.request.v1/1')?.length ?? 0;
      await until('the drain', () => (publisher.lanes.get('orders.acme.request.v1/1')?.length ?? 0) > sent);
      await postgres.kill();
      await postgres.restart();
      await until('the relay', () => relay.state.role === 'owner');
    }
    writing = false;
    await Promise.all(writers);
    const all = [...committed.values()].flat();
    await until(
      'all rows',
      () => {
        const seen = new Set(publisher.firsts());
        return all.every((id) => seen.has(id));
      },
      STARTED_MS,
    );
    const order = publisher.firsts();
    for (const ids of committed.values()) {
      const known = new Set(ids);
      expect(order.filter((id) => known.has(id))).toEqual(ids);
    }
    const client = await bench.client(url);
    await until('an empty table', async () => (await count(client, 'parked_outbound')) === 0);
  }, 300_000);
});
