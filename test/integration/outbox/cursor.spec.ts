import { Cursor, LeaseLostError } from '../../../src/messaging/outbox/cursor';
import { Floors } from '../../../src/messaging/outbox/floors';
import { Lease } from '../../../src/messaging/outbox/lease';
import { OutboxReader } from '../../../src/messaging/outbox/reader';
import { connectRelay } from '../../../src/messaging/outbox/relay-connection';
import { addRows, Bench, RecordingPublisher, until } from './harness';

describe('the cursor', () => {
  const bench = new Bench();
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  const taken = async () => {
    const client = await bench.client();
    const state = await new Lease('one', 60_000).acquire(client);
    if (!state) throw new Error('the lease is taken');
    return { client, state, cursor: new Cursor(client, state.epoch, 1000) };
  };
  const run = { topic: 't', partition: 0, baseOffset: 7n, firstSeq: 1n, lastSeq: 2n, seqs: [1n, 2n] };
  const report = { pendingRows: 0, oldestPending: null, failingLanes: [] };

  it('is stored with its floor and the receipts, and read again as it was', async () => {
    const { client, state, cursor } = await taken();
    const snapshot = { xmin: 5n, xmax: 18446744073709551000n, xip: [5n, 9n] };
    const position = { done: snapshot, window: { snapshot, hi: 9n, last: 3n } };
    await cursor.write(position, { xmax: 8n, xmin: 2n }, [run]);
    await cursor.renewLease(1, report);
    const again = await new Lease('one', 60_000).acquire(client);
    expect(again).toEqual({ ...state, position, floor: { xmax: 8n, xmin: 2n }, epoch: state.epoch + 1n });
    expect(
      (await client.query('SELECT topic, partition, base_offset, first_seq, last_seq, seqs FROM outbox_receipt')).rows,
    ).toEqual([{ topic: 't', partition: 0, base_offset: '7', first_seq: '1', last_seq: '2', seqs: ['1', '2'] }]);
  });

  it('is moved by nobody whose epoch is over', async () => {
    const { client, state, cursor } = await taken();
    await cursor.write(state.position, state.floor, []);
    await client.query('UPDATE outbox_cursor SET epoch = epoch + 1');
    await expect(cursor.write(state.position, { xmax: 9n, xmin: 9n }, [])).rejects.toThrow(LeaseLostError);
    await expect(cursor.renewLease(60_000, report)).rejects.toThrow(LeaseLostError);
    expect((await client.query('SELECT floor_xmax FROM outbox_cursor')).rows).toEqual([{ floor_xmax: '0' }]);
  });

  it('is found again when its row was moved', async () => {
    const { client, state, cursor } = await taken();
    await cursor.write(state.position, state.floor, []);
    await client.query('UPDATE outbox_cursor SET owner = owner');
    await client.query('VACUUM FULL outbox_cursor');
    await cursor.write(state.position, { xmax: 4n, xmin: 4n }, []);
    expect((await client.query('SELECT floor_xmax FROM outbox_cursor')).rows).toEqual([{ floor_xmax: '4' }]);
  });

  it('gives its transaction ids in order, each above every id of its time', async () => {
    const { client, state, cursor } = await taken();
    const before = await client.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
    const first = await cursor.write(state.position, state.floor, []);
    const second = await cursor.write(state.position, state.floor, []);
    expect(first).toBeGreaterThan(BigInt(before.rows[0]?.xid ?? 0));
    expect(second).toBeGreaterThan(first);
  });

  it('has a floor below a running transaction with a higher id and a lower number, by force', async () => {
    const { state } = await taken();
    const connections = await connectRelay({ connection: bench.url }, 'test', () => undefined);
    bench.onClose(() => connections.close());
    const cursor = new Cursor(connections.writer, state.epoch, 1000);
    const reader = new OutboxReader(
      connections.reader,
      '/test',
      { rows: 10, bytes: 1e6 },
      state.position,
      state.foreignUpto,
    );
    const floors = new Floors(state.floor);
    const read = async () => (await reader.read(floors.of(reader.position.done))).rows.map((row) => row.seq);
    const write = async () => {
      const { sequence } = reader;
      floors.mark(await cursor.write(reader.position, floors.of(reader.position.done), []), sequence);
    };
    await reader.look();
    await cursor.write(state.position, state.floor, []);
    const [running, late] = [await bench.client(), await bench.client()];
    await running.query('BEGIN');
    await addRows(running, [{ key: 'a' }]);
    // Nothing above its id has ended: `xmax` of the snapshot is at or below it, the sequence's position is at its number.
    expect(await read()).toEqual([]);
    expect(reader.sequence).toBe(1n);
    await write();
    await running.query('COMMIT');
    expect(await read()).toEqual([1n]);

    await running.query('BEGIN');
    await addRows(running, [{ key: 'a' }]);
    await addRows(late, [{ key: 'b' }]);
    // Now its id is among those that run in the snapshot.
    expect(await read()).toEqual([3n]);
    await write();
    await write();
    expect(await read()).toEqual([]);
    await running.query('COMMIT');
    expect(await read()).toEqual([2n]);
    // A transaction that runs elsewhere in the cluster holds it back until it ends.
    await until('the floor', async () => {
      await write();
      await read();
      const { xmax, xmin } = floors.of(reader.position.done);
      return xmax === 3n && xmin === 3n;
    });
  });

  it('leaves a lease that is held to its holder until it runs out', async () => {
    const { client } = await taken();
    const other = await bench.client();
    expect(await new Lease('two', 1000).acquire(other)).toBeUndefined();
    await client.query(`UPDATE outbox_cursor SET lease_until = now() - interval '1 ms'`);
    expect((await new Lease('two', 1000).acquire(other))?.epoch).toBe(2n);
  });

  it('carries the floor past what is sent, also when nothing more comes', async () => {
    const client = await bench.client();
    const publisher = new RecordingPublisher();
    await addRows(
      client,
      Array.from({ length: 30 }, () => ({ key: 'a' })),
    );
    bench.relay(publisher, { leaseMs: 1000 });
    await until('the floor', async () => {
      const { rows } = await client.query<{ floor: string }>('SELECT floor_xmin AS floor FROM outbox_cursor');
      return rows[0]?.floor === '30';
    });
  });
});
