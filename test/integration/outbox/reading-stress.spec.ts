import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { addRows, Bench, RecordingPublisher, until } from './harness';
import { NaiveReader } from './naive-readers';

const KEYS = 25;
const WRITERS = 12;
const TRANSACTIONS = 120;

/** What was committed: ids by key in commit order (the order under the key's row lock), and how many in all. */
class Ledger {
  readonly byKey = new Map<string, string[]>();
  total = 0;

  committed(key: string, ids: readonly string[]): void {
    const list = this.byKey.get(key) ?? [];
    list.push(...ids);
    this.byKey.set(key, list);
    this.total += ids.length;
  }

  lost(seen: readonly string[]): number {
    const set = new Set(seen);
    return [...this.byKey.values()].flat().filter((id) => !set.has(id)).length;
  }

  /** Pairs of neighbours within a key whose first deliveries come the wrong way round. */
  inversions(seen: readonly string[]): number {
    const place = new Map<string, number>();
    seen.forEach((id, index) => place.has(id) || place.set(id, index));
    let count = 0;
    for (const ids of this.byKey.values()) {
      const places = ids.map((id) => place.get(id)).filter((index) => index !== undefined);
      for (let i = 1; i < places.length; i++) if ((places[i] ?? 0) < (places[i - 1] ?? 0)) count++;
    }
    return count;
  }
}

/** Takes its transaction id long before the row lock, holds both for random times, rolls some back. */
async function write(client: Client, ledger: Ledger): Promise<void> {
  const random = Math.random;
  for (let i = 0; i < TRANSACTIONS; i++) {
    const key = `k${Math.floor(random() * KEYS)}`;
    await client.query('BEGIN; SELECT pg_current_xact_id()');
    if (random() < 0.5) await delay(random() * 4);
    await client.query('SELECT FROM key_lock WHERE key = $1 FOR UPDATE', [key]);
    if (random() < 0.3) await delay(random() * 4);
    const ids = Array.from({ length: 1 + Math.floor(random() * 3) }, () => randomUUID());
    await addRows(
      client,
      ids.map((id) => ({ id, key, partition: Number(key.slice(1)) % 3 })),
    );
    if (random() < 0.3) await delay(random() * 4);
    const rollBack = random() < 0.07;
    // Noted before the lock goes, so that the ledger has the order of the commits of a key.
    if (!rollBack) ledger.committed(key, ids);
    await client.query(rollBack ? 'ROLLBACK' : 'COMMIT');
  }
}

/** A transaction that draws its numbers early and commits late, again and again. */
async function writeSlowly(client: Client, ledger: Ledger, key: string, goOn: () => boolean): Promise<void> {
  while (goOn()) {
    await client.query('BEGIN');
    const ids = [randomUUID(), randomUUID()];
    await addRows(client, [{ id: ids[0] ?? '', key, partition: 0 }]);
    await delay(400);
    await addRows(client, [{ id: ids[1] ?? '', key, partition: 0 }]);
    ledger.committed(key, ids);
    await client.query('COMMIT');
  }
}

describe('reading under many writers', () => {
  const bench = new Bench();
  beforeEach(async () => {
    await bench.open();
    const client = await bench.client();
    await client.query(
      `CREATE TABLE key_lock AS SELECT 'k' || g AS key FROM generate_series(0, ${KEYS - 1}) g; ALTER TABLE key_lock ADD PRIMARY KEY (key)`,
    );
  });
  afterEach(() => bench.close());

  /** Runs the writers beside `during` and returns what they committed. */
  const underLoad = async (during: (ledger: Ledger) => Promise<void>): Promise<Ledger> => {
    const ledger = new Ledger();
    const elsewhere = await bench.client(bench.url.replace(/[^/]+$/, 'postgres'));
    await elsewhere.query('BEGIN; SELECT pg_current_xact_id()');
    let writing = true;
    const slow = [writeSlowly(await bench.client(), ledger, 'slow', () => writing)];
    const clients = await Promise.all(Array.from({ length: WRITERS }, () => bench.client()));
    const writers = Promise.all(clients.map((client) => write(client, ledger))).finally(() => (writing = false));
    await during(ledger);
    await writers;
    await Promise.all(slow);
    await elsewhere.query('ROLLBACK');
    return ledger;
  };

  it.each([
    { name: 'with pages that are larger than the windows', pageRows: 2000, readAheadRows: 10_000 },
    { name: 'with pages so small that windows are frozen and paged all the time', pageRows: 3, readAheadRows: 9 },
  ])('loses no row and inverts no key $name', async ({ pageRows, readAheadRows }) => {
    const publisher = new RecordingPublisher();
    publisher.before = () => delay(Math.random() * 3);
    bench.relay(publisher, { pageRows, readAheadRows });
    const ledger = await underLoad(() => Promise.resolve());
    await until('every row', () => new Set(publisher.firsts()).size >= ledger.total);
    expect(ledger.total).toBeGreaterThan(1500);
    expect(ledger.lost(publisher.firsts())).toBe(0);
    expect(ledger.inversions(publisher.firsts())).toBe(0);
    expect(publisher.sent).toBe(ledger.total);
    expect(publisher.overlapping).toBe(0);
  });

  it('loses no row and inverts no key when connections are cut, sends fail and relays change', async () => {
    const publisher = new RecordingPublisher();
    publisher.before = async () => {
      await delay(Math.random() * 3);
      if (Math.random() < 0.05) throw new Error('not written');
    };
    publisher.after = () => {
      if (Math.random() < 0.05) throw new Error('written, and the answer lost');
    };
    const admin = await bench.client();
    let relay = bench.relay(publisher, { pageRows: 7, readAheadRows: 40, leaseMs: 1000 });
    const ledger = await underLoad(async () => {
      for (let i = 0; i < 6; i++) {
        await delay(200);
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'parley relay ${i % 2 ? 'read' : 'write'}%'`,
        );
        if (i % 3 !== 2) continue;
        await relay.stop(0);
        relay = bench.relay(publisher, { pageRows: 7, readAheadRows: 40, leaseMs: 1000 });
      }
    });
    await until('every row', () => new Set(publisher.firsts()).size >= ledger.total);
    expect(ledger.lost(publisher.firsts())).toBe(0);
    expect(ledger.inversions(publisher.firsts())).toBe(0);
    expect(publisher.overlapping).toBe(0);
  });

  it('shows why: `seq > cursor` loses the transaction that commits late', async () => {
    const reader = new NaiveReader(await bench.client(), 'seq');
    reader.start();
    const ledger = await underLoad(() => Promise.resolve());
    await reader.stop();
    while ((await reader.poll()) > 0);
    expect(ledger.lost(reader.seen)).toBeGreaterThan(0);
  });

  it('shows why: with `xid < xmin` added it loses the one that has the higher id and the lower number', async () => {
    const reader = new NaiveReader(await bench.client(), 'seq below xmin');
    const [low, high] = [await bench.client(), await bench.client()];
    await low.query('BEGIN; SELECT pg_current_xact_id()');
    await high.query('BEGIN; SELECT pg_current_xact_id()');
    const [lost] = await addRows(high, [{ key: 'a' }]);
    const [read] = await addRows(low, [{ key: 'b' }]);
    await low.query('COMMIT');
    await until('the row of the lower id', async () => (await reader.poll()) > 0 || reader.seen.length > 0);
    await high.query('COMMIT');
    const publisher = new RecordingPublisher();
    bench.relay(publisher);
    await until('the relay', () => publisher.sent === 2);
    while ((await reader.poll()) > 0);
    expect(reader.seen).toEqual([read]);
    expect(publisher.firsts()).toEqual([lost, read]);
  });

  it('shows why: `(xid, seq)` below xmin turns the order of a key round', async () => {
    const reader = new NaiveReader(await bench.client(), 'xid, seq below xmin');
    const [low, high] = [await bench.client(), await bench.client()];
    await low.query('BEGIN; SELECT pg_current_xact_id()');
    await high.query('BEGIN; SELECT pg_current_xact_id()');
    const [first] = await addRows(high, [{ key: 'a' }]);
    await high.query('COMMIT');
    const [second] = await addRows(low, [{ key: 'a' }]);
    await low.query('COMMIT');
    await until('both rows', async () => (await reader.poll()) > 0 || reader.seen.length === 2);
    expect(reader.seen).toEqual([second, first]);
  });
});
