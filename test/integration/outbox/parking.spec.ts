import type { Client } from 'pg';
import { PublishError } from '../../../src/messaging/kafka';
import { addRows, Bench, RecordingPublisher, until } from './harness';

const TOPIC = 'orders.acme.request.v1';
/** Parks with the second failure beside another lane's acknowledgement. */
const AT_ONCE = { afterMs: 0, lookMs: 50, backoff: { initialMs: 100, maxMs: 200 } };

describe('a relay with a lane that keeps failing', () => {
  const bench = new Bench();
  let publisher: RecordingPublisher;
  let client: Client;
  let broken: boolean;
  beforeEach(async () => {
    await bench.open();
    client = await bench.client();
    publisher = new RecordingPublisher();
    broken = true;
    publisher.before = ({ topic, partition }) => {
      if (partition === 1 && broken)
        throw new PublishError('topic-missing', 'refused', topic, partition, 'no such topic');
    };
  });
  afterEach(async () => {
    await bench.close();
    // Neither by two clients.
    expect(publisher.overlapping).toBe(0);
  });

  const rows = (count: number, partition: number, key = 'a') =>
    Array.from({ length: count }, () => ({ key, partition }));
  const parked = async () => {
    const found = await client.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM parked_outbound WHERE state = 'waiting'`,
    );
    return found.rows[0]?.n;
  };
  const unsent = async () => {
    const found = await client.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM outbox_message, outbox_cursor WHERE NOT pg_visible_in_snapshot(xid, done)',
    );
    return found.rows[0]?.n;
  };
  const lane = async () =>
    (await client.query('SELECT topic, partition, code, reason FROM parked_lane')).rows as unknown[];
  const stuck = `${TOPIC}/1`;

  it('parks it beside others that flow, lets the cursor pass, and sends its rows in order when it heals', async () => {
    const relay = bench.relay(publisher, { parking: AT_ONCE });
    const ids = await addRows(client, rows(3, 1));
    await addRows(client, rows(2, 0));
    await until('the parking', async () => (await parked()) === 3);
    ids.push(...(await addRows(client, rows(700, 1))));
    await addRows(client, rows(2, 0));
    await until('those that follow', async () => (await parked()) === 703);
    await until('the cursor', async () => (await unsent()) === 0);
    expect(publisher.lanes.get(`${TOPIC}/0`)).toHaveLength(4);
    await until('the metrics', () => relay.state.failingLanes.length + relay.state.pendingRows === 0);
    expect(relay.state.parkedLanes).toMatchObject([{ topic: TOPIC, partition: 1, code: 'topic-missing' }]);
    expect(await lane()).toMatchObject([
      {
        topic: TOPIC,
        partition: 1,
        code: 'topic-missing',
        reason: expect.stringMatching(/does not exist.*Make it/) as string,
      },
    ]);
    broken = false;
    await until('its rows', () => publisher.lanes.get(stuck)?.length === 703);
    await until('the lane', () => relay.state.parkedLanes.length === 0);
    ids.push(...(await addRows(client, rows(3, 1))));
    await until('the rows behind them', () => publisher.lanes.get(stuck)?.length === 706);
    expect(publisher.lanes.get(stuck)).toEqual(ids);
    expect([await parked(), await lane()]).toEqual([0, []]);
    await until('receipts of all', async () => {
      const found = await client.query<{ n: number }>('SELECT sum(cardinality(seqs))::int AS n FROM outbox_receipt');
      return found.rows[0]?.n === 710;
    });
  });

  it('keeps the order of keys while rows come during the drain without a pause', async () => {
    const relay = bench.relay(publisher, { parking: AT_ONCE, pageRows: 50 });
    const ids = await addRows(client, rows(1500, 1));
    const writer = await bench.client();
    let writing = true;
    const written = (async () => {
      while (writing) ids.push(...(await addRows(writer, [...rows(7, 1), ...rows(1, 0)])).slice(0, 7));
    })();
    await until('the parking', async () => ((await parked()) ?? 0) > 500);
    broken = false;
    await until('the lane', () => relay.state.parkedLanes.length === 0);
    const atHeal = ids.length;
    await until('rows that go by memory again', () => ids.length > atHeal + 50);
    writing = false;
    await written;
    await until('all rows', () => publisher.lanes.get(stuck)?.length === ids.length);
    expect(publisher.lanes.get(stuck)).toEqual(ids);
    expect(await parked()).toBe(0);
  });

  it('parks nothing while no other lane is acknowledged, and says so once', async () => {
    const lines: unknown[][] = [];
    const log = { info: () => 0, debug: () => 0, error: () => 0, warn: (...line: unknown[]) => lines.push(line) };
    publisher.before = () => {
      throw new Error('connection refused');
    };
    const relay = bench.relay(publisher, { parking: AT_ONCE, log });
    await addRows(client, [...rows(3, 0), ...rows(3, 1)]);
    await until('many failures', () => (relay.state.failingLanes[0]?.failures ?? 0) >= 5);
    expect(await parked()).toBe(0);
    expect(lines.filter(([, text]) => /no lane is acknowledged/.test(String(text)))).toHaveLength(1);
  });

  it('parks a lane at once that alone fills the memory, and reads on', async () => {
    const relay = bench.relay(publisher, { pageRows: 50, readAheadRows: 200, parking: { lookMs: 50 } });
    const ids = await addRows(client, rows(1000, 1));
    const others = await addRows(client, rows(20, 0));
    await until('the others', () => publisher.lanes.get(`${TOPIC}/0`)?.length === 20);
    expect(publisher.lanes.get(`${TOPIC}/0`)).toEqual(others);
    await until('the parking', async () => (await parked()) === 1000);
    broken = false;
    await client.query('UPDATE parked_lane SET next_attempt_at = now()');
    await until('its rows', () => publisher.lanes.get(stuck)?.length === 1000);
    expect(publisher.lanes.get(stuck)).toEqual(ids);
    await until('the metrics', () => relay.state.pendingRows === 0);
  });

  it('is found parked by the next owner, which sends nothing of it before its parked rows', async () => {
    const first = bench.relay(publisher, { parking: AT_ONCE });
    const ids = await addRows(client, rows(5, 1));
    await addRows(client, rows(1, 0));
    await until('the parking', async () => (await parked()) === 5);
    await first.stop();
    ids.push(...(await addRows(client, rows(5, 1))));
    await client.query(`UPDATE parked_lane SET next_attempt_at = now() + interval '1 hour'`);
    broken = false;
    const second = bench.relay(publisher, { parking: AT_ONCE });
    await until('those that follow', async () => (await parked()) === 10);
    expect(publisher.lanes.get(stuck)).toBeUndefined();
    expect(second.state.parkedLanes).toHaveLength(1);
    await client.query('UPDATE parked_lane SET next_attempt_at = now()');
    await until('all', () => publisher.lanes.get(stuck)?.length === 10);
    expect(publisher.lanes.get(stuck)).toEqual(ids);
  });

  it('outlives a restore into another cluster: what is parked waits in its place, and what staff discarded is not sent', async () => {
    const first = bench.relay(publisher, { parking: AT_ONCE });
    const ids = await addRows(client, rows(6, 1));
    await addRows(client, rows(1, 0));
    await until('the parking', async () => (await parked()) === 6);
    await first.stop();
    await client.query(`UPDATE parked_outbound SET state = 'discarded' WHERE message_id = $1`, [ids[2]]);
    await client.query('UPDATE outbox_cursor SET system_identifier = 1, floor_xmin = 0, floor_xmax = 0');
    broken = false;
    bench.relay(publisher, { parking: AT_ONCE });
    ids.push(...(await addRows(client, rows(2, 1))));
    await until('its rows', () => publisher.firsts(stuck).length === 7);
    expect(publisher.firsts(stuck)).toEqual(ids.filter((_, n) => n !== 2));
    expect(publisher.lanes.get(stuck)).toHaveLength(7);
  });

  const addAcme = async (state: 'active' | 'suspended') => {
    await client.query(`INSERT INTO partner (id, name, state, created_at) VALUES ('acme', 'Acme', $1, now())`, [state]);
    await client.query(
      `INSERT INTO channel (partner, topic, direction, format, partitions, max_message_bytes, created_at)
       VALUES ('acme', '${TOPIC}', 'out', 'json', 2, 1000000, now())`,
    );
  };

  it('is drained no further from the moment on at which its partner is suspended', async () => {
    await addAcme('active');
    const relay = bench.relay(publisher, { parking: AT_ONCE });
    const ids = await addRows(client, [...rows(1200, 1), ...rows(1, 0)]);
    await until('the parking', async () => (await parked()) === 1200);
    const gate = Promise.withResolvers<void>();
    let drains = false;
    publisher.before = async ({ partition }) => {
      if (partition !== 1) return;
      drains = true;
      await gate.promise;
    };
    await until('the drain', () => drains);
    await client.query(`UPDATE partner SET state = 'suspended'`);
    // Another lane of the partner shows that the relay has seen it.
    await until('the notice', async () => {
      await addRows(client, rows(1, 0));
      return relay.state.parkedLanes.some(({ partition }) => partition === 0);
    });
    gate.resolve();
    await until('its end', () =>
      relay.state.parkedLanes.some(({ partition, code }) => partition === 1 && code === 'partner-suspended'),
    );
    expect(publisher.lanes.get(stuck)).toHaveLength(500);
    await client.query(`UPDATE partner SET state = 'active'`);
    await until('the rest', () => publisher.lanes.get(stuck)?.length === 1200);
    expect(publisher.lanes.get(stuck)).toEqual(ids.slice(0, 1200));
  });

  it('is let to wait while its partner is suspended, and flows in order when it is active again', async () => {
    broken = false;
    await addAcme('suspended');
    const relay = bench.relay(publisher, { parking: AT_ONCE });
    const ids = await addRows(client, rows(20, 1));
    const [other] = await addRows(client, [{ key: 'b', topic: 'orders.umbra.request.v1' }]);
    await until('the parking', async () => (await parked()) === 20);
    await until('the other partner', () => publisher.firsts().includes(other ?? ''));
    expect(relay.state.parkedLanes).toMatchObject([{ code: 'partner-suspended' }]);
    expect(publisher.lanes.get(stuck)).toBeUndefined();
    await client.query(`UPDATE partner SET state = 'active'`);
    await until('its rows', () => publisher.lanes.get(stuck)?.length === 20);
    ids.push(...(await addRows(client, rows(2, 1))));
    await until('the rows behind them', () => publisher.lanes.get(stuck)?.length === 22);
    expect(publisher.lanes.get(stuck)).toEqual(ids);
    await client.query(`UPDATE partner SET state = 'suspended'`);
    await until('the notice', async () => {
      await addRows(client, rows(1, 1));
      return ((await parked()) ?? 0) > 0;
    });
  });

  it('says of a paused partner since when and why, and of one that is suspended then, that', async () => {
    broken = false;
    await addAcme('active');
    await client.query(
      `UPDATE partner SET state = 'paused', state_since = '2026-02-03T04:05:06Z', state_reason = 'it moves its data centre'`,
    );
    const relay = bench.relay(publisher, { parking: AT_ONCE });
    const ids = await addRows(client, rows(3, 1));
    const said = async () =>
      (await client.query<{ code: string; reason: string }>('SELECT code, reason FROM parked_lane')).rows[0];
    await until('the parking', async () => (await parked()) === 3);
    expect(await said()).toEqual({
      code: 'partner-paused',
      reason:
        'The partner is paused. Its messages follow in order when it is resumed. (since 2026-02-03T04:05:06Z: it moves its data centre)',
    });
    await client.query(`UPDATE partner SET state = 'suspended', state_reason = 'it was broken into'`);
    await until('the other words', async () => (await said())?.code === 'partner-suspended');
    expect((await said())?.reason).toContain('it was broken into');
    expect(relay.state.parkedLanes).toMatchObject([{ code: 'partner-suspended' }]);
    expect(publisher.lanes.get(stuck)).toBeUndefined();
    await client.query(`UPDATE partner SET state = 'active'`);
    await until('its rows', () => publisher.lanes.get(stuck)?.length === 3);
    expect(publisher.lanes.get(stuck)).toEqual(ids);
  });
});
