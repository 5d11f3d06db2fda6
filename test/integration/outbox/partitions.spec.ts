import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ensurePartitions, maintainPartitions } from '../../../src/messaging/outbox';
import { Database } from '../../../src/platform/database';
import { addRows, Bench, RecordingPublisher, until } from './harness';

const HOUR = 3_600_000;

describe('partitions of the outbox', () => {
  const bench = new Bench();
  let database: Database;
  let client: Client;

  beforeEach(async () => {
    await bench.open();
    client = await bench.client();
    const dataSource = await new DataSource({
      type: 'postgres',
      url: bench.url,
      poolSize: 4,
      installExtensions: false,
    }).initialize();
    bench.onClose(() => dataSource.destroy());
    database = new Database(dataSource);
    // Small ones, to see many.
    await client.query('DROP TABLE outbox_message_p1, outbox_receipt_p1');
  });
  afterEach(() => bench.close());

  const names = async (table = 'outbox_message') => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY inhrelid`,
      [table],
    );
    return rows.map((row) => row.name);
  };
  const add = (count: number) =>
    addRows(
      client,
      Array.from({ length: count }, () => ({ key: 'a' })),
    );
  /** 25 rows over three partitions, all sent, and the stored floor at least at `floor`; the relay goes on. */
  const sendAcrossPartitions = async (floor: number): Promise<RecordingPublisher> => {
    await ensurePartitions(database, policy);
    const publisher = new RecordingPublisher();
    bench.relay(publisher);
    await add(25);
    await until('the rows', () => publisher.sent === 25);
    await until('the floor', async () => {
      const { rows } = await client.query<{ floor: string }>('SELECT floor_xmin::text AS floor FROM outbox_cursor');
      return Number(rows[0]?.floor) >= floor;
    });
    return publisher;
  };
  /** Leaves a partition as a pass does that is cut off between the two transactions of DETACH CONCURRENTLY. */
  const detachHalf = async (name: string) => {
    const [reader, detacher] = [await bench.client(), await bench.client()];
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM outbox_message');
    const { rows } = await detacher.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const detaching = detacher.query(`ALTER TABLE outbox_message DETACH PARTITION ${name} CONCURRENTLY`);
    const cutOff = expect(detaching).rejects.toThrow(/canceling/);
    await until('the first of its transactions', async () => {
      const pending = await client.query('SELECT FROM pg_inherits WHERE inhdetachpending');
      return pending.rows.length === 1;
    });
    await client.query('SELECT pg_cancel_backend($1)', [rows[0]?.pid]);
    await cutOff;
    await reader.query('COMMIT');
  };
  const policy = { rows: 10, retentionMs: HOUR };
  const later = () => new Date(Date.now() + 2 * HOUR);

  it('are kept four ahead, for messages and receipts, also when several processes make them at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => ensurePartitions(database, policy)));
    expect(made.flat()).toEqual([1, 11, 21, 31, 41].map((from) => `outbox_message_p${from}`));
    await add(25);
    expect(await ensurePartitions(database, policy)).toEqual(['outbox_message_p51', 'outbox_message_p61']);
    expect(await ensurePartitions(database, policy)).toEqual([]);
    expect(await names('outbox_receipt')).toEqual((await names()).map((name) => name.replace('message', 'receipt')));
  });

  it('take another size from the next one on', async () => {
    await ensurePartitions(database, policy);
    await add(45);
    expect(await ensurePartitions(database, { rows: 100 })).toEqual([
      'outbox_message_p51',
      'outbox_message_p151',
      'outbox_message_p251',
      'outbox_message_p351',
    ]);
  });

  it('are made while writers hold the table, without waiting for them', async () => {
    await ensurePartitions(database, policy);
    await add(30);
    const writer = await bench.client();
    await writer.query('BEGIN');
    await addRows(writer, [{ key: 'a' }]);
    expect(await ensurePartitions(database, policy)).toHaveLength(3);
    await writer.query('COMMIT');
  });

  it('are dropped with their receipts when wholly sent and old', async () => {
    const publisher = await sendAcrossPartitions(20);
    expect((await maintainPartitions(database, policy, new Date())).dropped).toEqual([]);
    const pass = await maintainPartitions(database, policy, later());
    expect(pass).toMatchObject({ dropped: ['outbox_message_p1', 'outbox_message_p11'], refused: [] });
    expect(await names()).not.toContain('outbox_message_p11');
    expect(await names('outbox_receipt')).not.toContain('outbox_receipt_p11');
    await add(30);
    await until('the rows after it', () => publisher.sent === 55);
  });

  it('stay while anything in them is parked, though the cursor has gone over it; what staff discarded goes with them', async () => {
    await ensurePartitions(database, policy);
    const publisher = new RecordingPublisher();
    let broken = true;
    publisher.before = ({ partition }) => {
      if (partition === 1 && broken) throw new Error('refused');
    };
    bench.relay(publisher, { parking: { afterMs: 0, lookMs: 50, backoff: { initialMs: 100, maxMs: 100 } } });
    await addRows(client, [{ key: 'stuck', partition: 1 }]);
    await add(24);
    const parked = async () => (await client.query('SELECT FROM parked_outbound')).rows.length;
    await until('the parking', async () => (await parked()) === 1);
    await until('the floor', async () => {
      await add(1);
      const { rows } = await client.query<{ floor: string }>('SELECT floor_xmin::text AS floor FROM outbox_cursor');
      return Number(rows[0]?.floor) >= 20;
    });
    expect(await maintainPartitions(database, policy, later())).toMatchObject({
      dropped: ['outbox_message_p11'],
      refused: [],
    });
    await client.query(`UPDATE parked_outbound SET state = 'discarded'`);
    expect(await maintainPartitions(database, policy, later())).toMatchObject({ dropped: ['outbox_message_p1'] });
    expect(await parked()).toBe(0);
    broken = false;
  });

  it('stay while anything in them is unsent, however old', async () => {
    await ensurePartitions(database, policy);
    const publisher = new RecordingPublisher();
    publisher.before = ({ partition }) => {
      if (partition === 1) throw new Error('refused');
    };
    bench.relay(publisher);
    await addRows(client, [{ key: 'stuck', partition: 1 }]);
    await add(24);
    await until('the others', () => publisher.sent === 24);
    await add(1);
    await until('the other', () => publisher.sent === 25);
    expect(await maintainPartitions(database, policy, later())).toMatchObject({ dropped: [], refused: [] });
  });

  it('stay behind a transaction that is still open and may commit a row into them', async () => {
    await ensurePartitions(database, policy);
    const open = await bench.client();
    await open.query('BEGIN');
    await addRows(open, [{ key: 'open' }]);
    const publisher = new RecordingPublisher();
    bench.relay(publisher);
    await add(24);
    await until('the others', () => publisher.sent === 24);
    await add(1);
    await until('the other', () => publisher.sent === 25);
    expect(await maintainPartitions(database, policy, later())).toMatchObject({ dropped: [], refused: [] });
    await open.query('COMMIT');
    await until('the open one', () => publisher.sent === 26);
  });

  it('are put back when a row in them turns out to be unsent', async () => {
    await ensurePartitions(database, policy);
    await add(15);
    // A floor that lies, as a restored or edited state row might.
    await client.query('UPDATE outbox_cursor SET floor_xmin = 15, floor_xmax = 15');
    expect(await maintainPartitions(database, policy, later())).toMatchObject({
      dropped: [],
      refused: ['outbox_message_p1'],
    });
    expect(await names()).toContain('outbox_message_p1');
    // The same when a pass that was cut off has begun to take it out.
    await detachHalf('outbox_message_p1');
    expect(await maintainPartitions(database, policy, later())).toMatchObject({
      dropped: [],
      refused: ['outbox_message_p1', 'outbox_message_p1'],
    });
    expect(await names()).toContain('outbox_message_p1');
    const publisher = new RecordingPublisher();
    await client.query('UPDATE outbox_cursor SET floor_xmin = 0, floor_xmax = 0');
    bench.relay(publisher);
    await until('the rows', () => publisher.sent === 15);
  });

  it('that a pass left half detached are finished by the next', async () => {
    await sendAcrossPartitions(10);
    await detachHalf('outbox_message_p1');
    await maintainPartitions(database, policy, later());
    expect(await names()).not.toContain('outbox_message_p1');
    expect((await client.query(`SELECT to_regclass('outbox_message_p1') AS t`)).rows).toEqual([{ t: null }]);
  });

  it('whose receipts somebody still reads hold up neither the relay nor the next pass', async () => {
    const publisher = await sendAcrossPartitions(10);
    const reader = await bench.client();
    await reader.query('BEGIN; SELECT count(*) FROM outbox_receipt');
    // Whatever the pass waits for, or gives up on, receipts are written all the while.
    let ended = false;
    const pass = maintainPartitions(database, policy, later())
      .catch((error: unknown) => error)
      .finally(() => (ended = true));
    await until('the pass to wait for the reader, or its end', async () => {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%outbox_%_p%' AND datname = current_database()`,
      );
      return ended || rows.length > 0;
    });
    await add(5);
    await until('the rows after it', () => publisher.sent === 30);
    await until('their receipts', async () => {
      const { rows } = await client.query('SELECT FROM outbox_receipt WHERE last_seq = 30');
      return rows.length > 0;
    });
    await reader.query('COMMIT');
    await pass;
    await maintainPartitions(database, policy, later());
    for (const table of ['message', 'receipt']) {
      const { rows } = await client.query(`SELECT to_regclass('outbox_${table}_p1') AS t`);
      expect(rows).toEqual([{ t: null }]);
    }
  });

  it('that a pass took out and could not drop are dropped by the next', async () => {
    await sendAcrossPartitions(10);
    await client.query('ALTER TABLE outbox_message DETACH PARTITION outbox_message_p1 CONCURRENTLY');
    expect((await maintainPartitions(database, policy, later())).dropped).toContain('outbox_message_p1');
    for (const table of ['message', 'receipt']) {
      const { rows } = await client.query(`SELECT to_regclass('outbox_${table}_p1') AS t`);
      expect(rows).toEqual([{ t: null }]);
    }
  });
});
