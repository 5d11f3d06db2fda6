import type { Client } from 'pg';
import { Cursor, LeaseLostError } from '../../../src/messaging/outbox/cursor';
import { Lane } from '../../../src/messaging/outbox/lane';
import { Lease } from '../../../src/messaging/outbox/lease';
import { Parking } from '../../../src/messaging/outbox/parking/parked-rows';
import { ParkedStore } from '../../../src/messaging/outbox/parking/parked-store';
import { type QueuedRow } from '../../../src/messaging/outbox/queued-row';
import { addRows, Bench, until } from './harness';

const TOPIC = 'orders.acme.request.v1';

describe('parking, when another relay has taken over', () => {
  const bench = new Bench();
  let client: Client;
  beforeEach(async () => {
    await bench.open();
    client = await bench.client();
  });
  afterEach(() => bench.close());

  const row = (seq: number, id: string): QueuedRow => ({
    seq: BigInt(seq),
    topic: TOPIC,
    partition: 0,
    key: 'a',
    record: { key: 'a', value: null, headers: { ce_id: id } },
    size: 1,
    time: '',
    read: { left: 1 },
  });
  const lane = () => {
    const made = new Lane(TOPIC, 0, () => undefined);
    made.parked = { code: 'topic-missing', reason: 'gone', leaving: false };
    return made;
  };
  /** An owner, its cursor and store, and a row that it has read. */
  const owner = async () => {
    const own = await bench.client();
    const state = await new Lease('one', 60_000).acquire(own);
    if (!state) throw new Error('the lease is taken');
    const [id] = await addRows(client, [{ key: 'a', topic: TOPIC }]);
    const parking = new Parking();
    parking.add(lane(), [row(1, id ?? '')], 'waiting', undefined);
    const cursor = new Cursor(own, state.epoch, 1000);
    const park = () => cursor.write(state.position, state.floor, [], parking);
    return { park, store: new ParkedStore(own, state.epoch, '/test') };
  };
  const takeOver = 'UPDATE outbox_cursor SET epoch = epoch + 1';
  const counts = async () => {
    const { rows } = await client.query<{ lanes: number; rows: number }>(
      'SELECT (SELECT count(*)::int FROM parked_lane) AS lanes, (SELECT count(*)::int FROM parked_outbound) AS rows',
    );
    return rows[0];
  };
  const waiting = async () => {
    const { rows } = await client.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    return rows.length > 0;
  };

  it('is one statement with the cursor: it parks nothing that the cursor does not pass, also when both are at it at once', async () => {
    const { park } = await owner();
    const other = await bench.client();
    await other.query(`BEGIN; ${takeOver}`);
    const parked = park();
    const refused = expect(parked).rejects.toThrow(LeaseLostError);
    await until('the statement that waits for the row', waiting);
    await other.query('COMMIT');
    await refused;
    expect(await counts()).toEqual({ lanes: 0, rows: 0 });
  });

  it('is ended by the owner alone: neither the lane nor a row of it is taken away by the one before', async () => {
    const { park, store } = await owner();
    await park();
    expect(await counts()).toEqual({ lanes: 1, rows: 1 });
    const id = { topic: TOPIC, partition: 0 };
    const run = { ...id, baseOffset: 0n, firstSeq: 1n, lastSeq: 1n, seqs: [1n] };
    const deeds = [
      () => store.sent([1n], [run]),
      () => store.died({ seq: 1n, key: 'a', ...id }, 'x', 'x'),
      () => store.unpark(id),
      () => store.release({ ...id, key: 'a' }),
      () => store.laneFailed(id, { code: 'x', reason: 'x' }, undefined, () => 1),
    ];
    const other = await bench.client();
    for (const deed of deeds) {
      await other.query(`BEGIN; ${takeOver}`);
      const refused = expect(deed()).rejects.toThrow(LeaseLostError);
      await until('the statement that waits for the row', waiting);
      await other.query('COMMIT');
      await refused;
      // The next one begins with the epoch that it believes in.
      await other.query('UPDATE outbox_cursor SET epoch = epoch - 1');
    }
    const { rows } = await client.query('SELECT state, code FROM parked_outbound');
    expect([await counts(), rows]).toEqual([{ lanes: 1, rows: 1 }, [{ state: 'waiting', code: null }]]);
  });

  it('is not ended while a row still waits', async () => {
    const { park, store } = await owner();
    await park();
    const id = { topic: TOPIC, partition: 0 };
    expect(await store.unpark(id)).toBe(false);
    expect(await counts()).toEqual({ lanes: 1, rows: 1 });
    await client.query(`UPDATE parked_outbound SET state = 'held'`);
    await client.query(`INSERT INTO parked_outbound_key (topic, partition, key) VALUES ('${TOPIC}', 0, 'a')`);
    expect(await store.release({ ...id, key: 'a' })).toBe(false);
    expect(await store.unpark(id)).toBe(true);
    await client.query(`UPDATE parked_outbound SET state = 'discarded'`);
    expect(await store.release({ ...id, key: 'a' })).toBe(true);
  });

  it('parks a row once: what is there already stays as it is', async () => {
    const { park } = await owner();
    await park();
    await client.query(`UPDATE parked_outbound SET state = 'dead', code = 'invalid-record'`);
    await park();
    const { rows } = await client.query('SELECT state, code FROM parked_outbound');
    expect(rows).toEqual([{ state: 'dead', code: 'invalid-record' }]);
  });

  it('does not forget what staff decided while the owner looked', async () => {
    const { store } = await owner();
    const key = { topic: TOPIC, partition: 0, key: 'a' };
    await client.query(`INSERT INTO parked_outbound_key VALUES ('${TOPIC}', 0, 'a', now())`);
    const [due] = (await store.due()).keys;
    await client.query('UPDATE parked_outbound_key SET next_attempt_at = clock_timestamp()');
    await store.keyWaits(key, due?.at ?? '');
    expect((await store.due()).keys).toHaveLength(1);
    const [again] = (await store.due()).keys;
    await store.keyWaits(key, again?.at ?? '');
    expect((await store.due()).keys).toEqual([]);
  });

  it('has a lane tried once more that staff asked for while an attempt was failing', async () => {
    const { park, store } = await owner();
    await park();
    const fail = (at: string | undefined) =>
      store.laneFailed({ topic: TOPIC, partition: 0 }, { code: 'topic-missing', reason: 'gone' }, at, () => 3_600_000);
    await client.query('UPDATE parked_lane SET next_attempt_at = clock_timestamp()');
    const [due] = (await store.due()).lanes;
    await client.query('UPDATE parked_lane SET next_attempt_at = clock_timestamp()');
    await fail(due?.at);
    const [again] = (await store.due()).lanes;
    expect(again).toMatchObject({ topic: TOPIC, partition: 0 });
    await fail(again?.at);
    expect((await store.due()).lanes).toEqual([]);
    expect((await client.query('SELECT attempts FROM parked_lane')).rows).toEqual([{ attempts: 2 }]);
  });
});
