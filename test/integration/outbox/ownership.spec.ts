import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { createLanePublisher } from '../../../src/messaging/kafka';
import { createTopic, readAll } from '../../support/kafka';
import { testConfig } from '../../support/config';
import { addRows, Bench, RecordingPublisher, until } from './harness';

/** A process of our own has begun within this on a busy machine, ms. */
const STARTED_MS = 90_000;

/** First delivery of each id, in the order of the log. */
const firstDeliveries = async (topic: string) => [
  ...new Set((await readAll(topic)).map((record) => String(record.headers['ce_id']))),
];

describe('several relays', () => {
  const bench = new Bench();
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  const owner = async (client: Awaited<ReturnType<Bench['client']>>) => {
    const { rows } = await client.query<{ owner: string | null; epoch: string }>(
      'SELECT owner, epoch FROM outbox_cursor',
    );
    return rows[0] ?? { owner: null, epoch: '0' };
  };

  it('one owns the outbox, the others stand by, and one of them follows at once when it stops', async () => {
    const relays = [1, 2, 3].map((n) =>
      bench.relay(new RecordingPublisher(), { instance: `relay-${n}`, leaseMs: 3_600_000 }),
    );
    const roles = () => relays.map((relay) => relay.state.role).sort();
    await until('an owner', () => String(roles()) === 'owner,standby,standby');
    const first = relays.find((relay) => relay.state.role === 'owner');
    await first?.stop();
    // Long before the lease would have run out.
    await until('the next owner', () => String(roles()) === 'owner,standby,stopped');
  });

  it('a standby takes over when the lease of a silent owner runs out, and the old one can move nothing', async () => {
    const client = await bench.client();
    const publisher = new RecordingPublisher();
    const silent = bench.relay(publisher, { instance: 'silent', leaseMs: 1500 });
    await until('the lease', () => silent.state.role === 'owner');
    // The lease is somebody else's from now on, as after a pause of the whole process.
    await client.query(`UPDATE outbox_cursor SET owner = 'other', epoch = epoch + 1, lease_until = 'infinity'`);
    const before = await owner(client);
    const [id] = await addRows(client, [{ key: 'a' }]);
    await until('the stand-by', () => silent.state.role === 'standby');
    expect(await owner(client)).toEqual(before);
    const { rows } = await client.query<{ sent: boolean }>(
      'SELECT pg_visible_in_snapshot(xid, done) AS sent FROM outbox_message, outbox_cursor',
    );
    expect(rows).toEqual([{ sent: false }]);
    await client.query('UPDATE outbox_cursor SET lease_until = now()');
    await until('the lease again', () => silent.state.role === 'owner');
    await until('the row', () => publisher.firsts().includes(id ?? ''));
  });

  it('an owner that can read but not write sends nothing once its lease may have run out, and goes on when it can', async () => {
    const [client, lock] = [await bench.client(), await bench.client()];
    const publisher = new RecordingPublisher();
    const relay = bench.relay(publisher, { leaseMs: 1000, statementTimeoutMs: 60_000 });
    const ids = await addRows(client, [{ key: 'a' }]);
    await until('a first send', () => publisher.sent === 1);
    const { epoch } = await owner(client);
    await lock.query('BEGIN; SELECT FROM outbox_cursor FOR UPDATE');
    await until('the lease to run out', async () => {
      const { rows } = await client.query('SELECT FROM outbox_cursor WHERE lease_until < clock_timestamp()');
      return rows.length > 0;
    });
    ids.push(...(await addRows(client, [{ key: 'a' }, { key: 'b', partition: 1 }])));
    await until('the rows to be read', () => relay.state.pendingRows === 2);
    // A lane that may send does so in the turn in which its leader is known.
    await new Promise(setImmediate);
    expect(publisher.sent).toBe(1);
    await lock.query('COMMIT');
    await until('the rows', () => publisher.sent === 3);
    expect(new Set(publisher.firsts())).toEqual(new Set(ids));
    expect(await owner(client)).toMatchObject({ epoch });
  });

  it('first deliveries keep their order when three relays run and the owner is killed again and again', async () => {
    const topic = await createTopic('owners', { partitions: 2 });
    const client = await bench.client();
    const spawnOne = (name: string) => bench.relayProcess({ INSTANCE_ID: name, LEASE_MS: '1000' });
    const children = new Map(['r0', 'r1', 'r2'].map((name) => [name, spawnOne(name)]));
    const ids: string[][] = [[], []];
    let writing = true;
    const writer = (async () => {
      const own = await bench.client();
      for (let i = 0; writing; i++) {
        const rows = Array.from({ length: 5 }, (_, n) => ({ key: `k${n}`, topic, partition: n % 2 }));
        const added = await addRows(own, rows);
        added.forEach((id, n) => ids[n % 2]?.push(id));
        await delay(2);
      }
    })();
    let epoch = 0n;
    try {
      for (let kills = 0; kills < 4; kills++) {
        await until('a new owner', async () => BigInt((await owner(client)).epoch) > epoch, STARTED_MS);
        const now = await owner(client);
        epoch = BigInt(now.epoch);
        await delay(300);
        const name = now.owner?.split(' ')[0] ?? '';
        children.get(name)?.kill('SIGKILL');
        children.set(name, spawnOne(name));
      }
    } finally {
      writing = false;
      await writer;
    }
    const total = ids.flat().length;
    await until('all rows', async () => new Set(await firstDeliveries(topic)).size === total);
    for (const partition of [0, 1]) {
      const log = (await readAll(topic)).filter((record) => record.partition === partition);
      const firsts = [...new Set(log.map((record) => String(record.headers['ce_id'])))];
      expect(firsts).toEqual(ids[partition]);
    }
  }, 240_000);

  it('a relay that was stopped longer than its lease and continued can not move the cursor; first deliveries stay in order', async () => {
    const topic = await createTopic('paused');
    const client = await bench.client();
    const ids: string[] = [];
    const child = bench.relayProcess({ INSTANCE_ID: 'paused', LEASE_MS: '1000' });
    await until('the lease', async () => (await owner(client)).owner !== null, STARTED_MS);
    ids.push(
      ...(await addRows(
        client,
        Array.from({ length: 3000 }, () => ({ key: 'a', topic })),
      )),
    );
    await until('a first send', async () => (await readAll(topic)).length > 0);
    child.kill('SIGSTOP');
    const kafka = createLanePublisher(testConfig(bench.url), pino({ level: 'silent' }), 'relay');
    bench.onClose(() => kafka.close());
    // Longer than anything takes: no third owner comes of a machine that stalls.
    const other = bench.relay(kafka, { instance: 'other', leaseMs: 3_600_000 });
    await until('the takeover', () => other.state.role === 'owner');
    const { epoch } = await owner(client);
    ids.push(
      ...(await addRows(
        client,
        Array.from({ length: 2000 }, () => ({ key: 'a', topic })),
      )),
    );
    child.kill('SIGCONT');
    ids.push(
      ...(await addRows(
        client,
        Array.from({ length: 2000 }, () => ({ key: 'a', topic })),
      )),
    );
    await until('all rows', async () => (await firstDeliveries(topic)).length === ids.length);
    expect(await firstDeliveries(topic)).toEqual(ids);
    expect(await owner(client)).toMatchObject({ epoch });
    expect(other.state.role).toBe('owner');
  });

  it('a relay that is killed between the acknowledgement and the cursor repeats at most; it loses nothing', async () => {
    const topic = await createTopic('killed');
    const client = await bench.client();
    const ids = await addRows(
      client,
      Array.from({ length: 2200 }, () => ({ key: 'a', topic })),
    );
    const child = bench.relayProcess({ INSTANCE_ID: 'killed', KILL_AFTER_SENDS: '3' });
    await until('its end', () => child.signalCode === 'SIGKILL', STARTED_MS);
    const { rows } = await client.query<{ sent: string }>(
      'SELECT count(*) FILTER (WHERE pg_visible_in_snapshot(xid, done)) AS sent FROM outbox_message, outbox_cursor',
    );
    expect(rows).toEqual([{ sent: '0' }]);
    const before = (await readAll(topic)).length;
    expect(before).toBeGreaterThan(0);
    const kafka = createLanePublisher(testConfig(bench.url), pino({ level: 'silent' }), 'relay');
    bench.onClose(() => kafka.close());
    bench.relay(kafka);
    await until('all rows', async () => (await firstDeliveries(topic)).length === ids.length);
    expect(await firstDeliveries(topic)).toEqual(ids);
    expect((await readAll(topic)).length).toBeGreaterThanOrEqual(before + ids.length);
  });
});
