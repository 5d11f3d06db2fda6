import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres, type PostgresServer } from '../../../scripts/servers/index.mjs';
import { migrateDatabase } from '../../support/database';
import { kill } from '../../support/faults';
import { startTcpProxy } from '../../support/tcp-proxy';
import { addRows, Bench, connect, RecordingPublisher, until } from './harness';

describe('a relay whose database goes away', () => {
  let postgres: PostgresServer;
  const bench = new Bench();
  beforeAll(async () => {
    postgres = await startPostgres({ durable: true });
    await postgres.createDatabase('parley');
    await migrateDatabase(postgres.url('parley'));
  });
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
      await until('some rows', () => publisher.sent > 100 * (i + 1));
      await delay(300);
      const restart = await kill(postgres);
      await restart();
      await until('the relay', () => relay.state.role === 'owner');
    }
    writing = false;
    await Promise.all(writers);
    const client = await bench.client(postgres.url('parley'));
    const { rows } = await client.query<{ id: string }>('SELECT id FROM outbox_message');
    const stored = new Set(rows.map((row) => row.id));
    const known = [...committed.values()].flat();
    expect(known.filter((id) => !stored.has(id))).toEqual([]);
    // Also what the writers were not told of, where it is there.
    expect([...stored].filter((id) => !known.includes(id) && !maybe.has(id))).toEqual([]);
    await until('all rows', () => {
      const seen = new Set(publisher.firsts());
      return [...stored].every((id) => seen.has(id));
    });
    const order = publisher.firsts();
    for (const ids of committed.values()) {
      const known = new Set(ids);
      expect(order.filter((id) => known.has(id))).toEqual(ids);
    }
    // Nothing went out that is not in the database.
    expect(order.filter((id) => !stored.has(id))).toEqual([]);
  });

  it('starts without it and begins when it comes', async () => {
    const restart = await kill(postgres);
    const publisher = new RecordingPublisher();
    const relay = bench.relay(publisher, { url: postgres.url('parley') });
    await until('the trouble', () => /ECONNREFUSED/.test(relay.state.lastError ?? ''));
    expect(relay.state.role).toBe('connecting');
    await restart();
    await until('the lease', () => relay.state.role === 'owner');
    expect(relay.state.lastError).toBeUndefined();
  });

  it('gives up a server that says nothing any more', async () => {
    const proxy = await startTcpProxy({ port: postgres.port });
    bench.onClose(() => proxy.close());
    const url = new URL(postgres.url('parley'));
    url.port = String(proxy.port);
    const relay = bench.relay(new RecordingPublisher(), { url: url.href, leaseMs: 1000, statementTimeoutMs: 1000 });
    await until('the lease', () => relay.state.role === 'owner');
    proxy.pause();
    await until('the trouble', () => relay.state.role !== 'owner');
    proxy.resume();
    await until('the lease again', () => relay.state.role === 'owner');
  });

  it('is stopped in the time it was given, also when the server says nothing any more', async () => {
    const proxy = await startTcpProxy({ port: postgres.port });
    bench.onClose(() => proxy.close());
    const url = new URL(postgres.url('parley'));
    url.port = String(proxy.port);
    const [owner, standby] = [1, 2].map((n) =>
      bench.relay(new RecordingPublisher(), { url: url.href, instance: `r${n}`, statementTimeoutMs: 90_000 }),
    );
    await until(
      'the roles',
      () =>
        [owner, standby]
          .map((relay) => relay?.state.role)
          .sort()
          .join() === 'owner,standby',
    );
    proxy.pause();
    // The last pass reads, and a statement waits longer than a minute for its answer.
    const began = performance.now();
    await Promise.all([owner?.stop(200), standby?.stop(200)]);
    expect(performance.now() - began).toBeLessThan(30_000);
    proxy.resume();
  });
});
