import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ChannelCatalog } from '../../../src/messaging/channels';
import { delaysOf, Outbox, publicationsOf, receiptsOf } from '../../../src/messaging/outbox';
import { JsonCodec } from '../../../src/messaging/registry';
import { Database } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { addRows, Bench, RecordingPublisher, until } from './harness';

const TOPIC = 'orders.acme.request.v1';

describe('receipts', () => {
  const bench = new Bench();
  let database: Database;
  let client: Client;
  let publisher: RecordingPublisher;

  beforeEach(async () => {
    await bench.open();
    client = await bench.client();
    publisher = new RecordingPublisher();
    const dataSource = await new DataSource({
      type: 'postgres',
      url: bench.url,
      poolSize: 2,
      installExtensions: false,
    }).initialize();
    bench.onClose(() => dataSource.destroy());
    database = new Database(dataSource);
  });
  afterEach(() => bench.close());

  const stored = async () => {
    const { rows } = await client.query<{ id: string; seq: string; topic: string; partition: number }>(
      'SELECT id, seq, topic, partition FROM outbox_message ORDER BY seq',
    );
    return rows;
  };
  const receiptsStored = (count: number) =>
    until('the receipts', async () => {
      const { rows } = await client.query<{ n: string | null }>(
        'SELECT sum(cardinality(seqs)) AS n FROM outbox_receipt',
      );
      return Number(rows[0]?.n) >= count;
    });

  it('give every sent message its topic, partition and offset', async () => {
    const open = await bench.client();
    await open.query('BEGIN');
    await addRows(open, [{ key: 'late' }]);
    bench.relay(publisher, { pageRows: 100 });
    for (let i = 0; i < 10; i++) {
      await addRows(
        client,
        Array.from({ length: 70 }, (_, n) => ({ key: `k${n}`, partition: n % 3 })),
      );
    }
    await until('the rows', () => publisher.sent === 700);
    await open.query('COMMIT');
    await until('the late row', () => publisher.sent === 701);
    await receiptsStored(701);
    const rows = await stored();
    const receipts = await receiptsOf(database, rows);
    for (const { id, seq, topic, partition } of rows) {
      const offset = publisher.lanes.get(`${topic}/${partition}`)?.indexOf(id);
      const sentAt = expect.any(Date) as Date;
      expect(receipts.get(seq)).toEqual({ topic: TOPIC, partition, offset: String(offset), sentAt });
    }
    expect(await database.transaction((tx) => receiptsOf(tx, rows))).toEqual(receipts);
  });

  it('are missing for what is not sent', async () => {
    await addRows(client, [{ key: 'a' }]);
    expect(await receiptsOf(database, await stored())).toEqual(new Map());
    expect(await receiptsOf(database, [])).toEqual(new Map());
  });

  it('are missing for a reason: no relay, or a lane that fails', async () => {
    await addRows(client, [{ key: 'a' }, { key: 'b', partition: 1 }]);
    const [first, second] = (await stored()).map(({ seq }) => seq);
    const reasons = async () => Object.fromEntries(await delaysOf(database, await stored()));
    const none = 'No relay is at work; a process whose ROLES name the relay goes on with it.';
    expect(await reasons()).toEqual({ [`${first}`]: none, [`${second}`]: none });
    publisher.before = ({ partition }) => {
      if (partition === 1) throw new Error('the leader is gone');
    };
    // It reports once a second.
    const relay = bench.relay(publisher, { leaseMs: 3000 });
    const failing =
      /^orders\.acme\.request\.v1\/1 has taken nothing since \S+T\S+Z, and is tried again\. \S.* \(the leader is gone\)$/;
    await eventually(async () => {
      expect(await reasons()).toEqual({ [`${second}`]: expect.stringMatching(failing) as string });
      return true;
    });
    publisher.before = () => undefined;
    await until('the rows', () => publisher.sent >= 2);
    await relay.stop();
    expect(await delaysOf(database, [])).toEqual(new Map());
  });

  it('show the first place of a message that was sent twice, however the batches were cut', async () => {
    const ids = await addRows(
      client,
      Array.from({ length: 9 }, () => ({ key: 'a' })),
    );
    const first = bench.relay(publisher);
    await until('the rows', () => publisher.sent === 9);
    await receiptsStored(9);
    await first.stop();
    await client.query(`UPDATE outbox_cursor SET done = '3:3:', floor_xmax = 0, floor_xmin = 0`);
    bench.relay(publisher, { pageRows: 4 });
    await until('the rows again', () => publisher.sent === 18);
    await receiptsStored(18);
    const rows = await stored();
    const receipts = await receiptsOf(database, rows);
    expect(rows.map((row) => receipts.get(row.seq)?.offset)).toEqual(ids.map((_, index) => String(index)));
  });

  it('are found by the index, whatever the number of receipts', async () => {
    await client.query(
      `INSERT INTO outbox_receipt SELECT $1, p, g, g, g, ARRAY[g] FROM generate_series(1, 20000) g, generate_series(0, 5) p;`.replace(
        '$1',
        `'${TOPIC}'`,
      ),
    );
    await client.query('ANALYZE outbox_receipt');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT min(r.base_offset + array_position(r.seqs, m.seq) - 1) FROM unnest('{${TOPIC}}'::text[], '{3}'::int[], '{500}'::bigint[]) m(topic, partition, seq)
       JOIN outbox_receipt r ON r.topic = m.topic AND r.partition = m.partition AND r.last_seq >= m.seq AND r.last_seq <= m.seq + 10000 AND r.first_seq <= m.seq
       WHERE m.seq = ANY(r.seqs)`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using outbox_receipt_p1_/);
    const receipts = await receiptsOf(database, [{ topic: TOPIC, partition: 3, seq: '500' }]);
    expect(receipts.get('500')).toMatchObject({ topic: TOPIC, partition: 3, offset: '500' });
  });

  it('tell what is published, what waits, and what retention has dropped, which was published', async () => {
    await addRows(client, [{ key: 'sent' }]);
    const relay = bench.relay(publisher);
    await receiptsStored(1);
    await relay.stop();
    await addRows(client, [{ key: 'waits' }]);
    const [sent, waits] = await stored();
    const found = await database.transaction((tx) =>
      publicationsOf(tx, [sent?.seq ?? '', waits?.seq ?? '', '4000000']),
    );
    expect([...found.values()]).toEqual([expect.objectContaining({ topic: TOPIC, offset: '0' }), 'waiting', 'dropped']);
  });

  it('are new ones for a message that is added again, whose first place stays where it was', async () => {
    await addRows(client, [{ key: 'a' }, { key: 'b' }]);
    bench.relay(publisher);
    await receiptsStored(2);
    const before = await stored();
    const outbox = new Outbox(new ChannelCatalog(database), new JsonCodec());
    const added = await database.transaction((tx) => outbox.addAgain(tx, before.map(({ seq }) => seq).toReversed()));
    await receiptsStored(4);
    const rows = await stored();
    expect(rows.map(({ id }) => id)).toEqual([...before, ...before].map(({ id }) => id));
    expect([...added.keys()]).toEqual(before.map(({ id }) => id));
    const places = await receiptsOf(database, rows);
    expect(rows.map(({ seq }) => places.get(seq)?.offset)).toEqual(['0', '1', '2', '3']);
  });
});
