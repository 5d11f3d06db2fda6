import { startPostgres, type PostgresServer } from '../../../scripts/servers/index.mjs';
import { migrateDatabase } from '../../support/database';
import { recordingLogger } from '../kafka/fixtures';
import { addRows, Bench, RecordingPublisher, until } from './harness';

describe('a database that was restored into another cluster', () => {
  const bench = new Bench();
  let other: PostgresServer;
  beforeAll(async () => {
    other = await startPostgres();
    await other.createDatabase('restored');
    await migrateDatabase(other.url('restored'));
  });
  afterAll(() => other.stop());
  beforeEach(() => bench.open());
  afterEach(() => bench.close());

  it('has every row above the low-water mark sent again, and none of the new cluster lost, whatever their ids', async () => {
    const publisher = new RecordingPublisher();
    const source = await bench.client();
    const first = bench.relay(publisher, { pageRows: 10 });
    const old = await addRows(
      source,
      Array.from({ length: 40 }, () => ({ key: 'a' })),
    );
    await until('the sent ones', () => publisher.sent === 40);
    await first.stop();
    const unsent = await addRows(
      source,
      Array.from({ length: 15 }, () => ({ key: 'a' })),
    );

    // Dump and restore: the same rows, ids and state in a cluster that has given out other transaction ids.
    const target = await bench.client(other.url('restored'));
    for (const table of ['outbox_message', 'outbox_cursor']) {
      const { rows } = await source.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`);
      await target.query(`DELETE FROM ${table}`);
      await target.query(`INSERT INTO ${table} SELECT (r::${table}).* FROM unnest($1::text[]) r`, [
        rows.map((row) => row.row),
      ]);
    }
    await target.query(`SELECT setval('outbox_message_seq_seq', (SELECT max(seq) FROM outbox_message))`);
    // The API is up before the relay: these have ids that the restored snapshot takes for long sent (or never).
    const early = await addRows(
      target,
      Array.from({ length: 5 }, () => ({ key: 'a' })),
    );
    const open = await bench.client(other.url('restored'));
    await open.query('BEGIN; SELECT pg_current_xact_id()');
    const again = new RecordingPublisher();
    const { logger: log, lines } = recordingLogger();
    const relay = bench.relay(again, { url: other.url('restored'), pageRows: 10, log });
    await until('the rows', () => relay.state.role === 'owner' && again.sent >= 20);
    expect(lines.map(({ msg }) => msg)).toContain(
      'the database was restored into another cluster: every outbox row above the low-water mark is sent again',
    );
    const late = await addRows(
      target,
      Array.from({ length: 5 }, () => ({ key: 'a' })),
    );
    const held = await addRows(open, [{ key: 'b', partition: 1 }]);
    await open.query('COMMIT');
    await until('all of the new cluster', () => [...late, ...held].every((id) => again.firsts().includes(id)));
    const expected = [...old, ...unsent, ...early, ...late];
    const delivered = again.firsts('orders.acme.request.v1/0');
    expect(delivered).toEqual(expected.slice(expected.length - delivered.length));
    expect(delivered.length).toBeGreaterThanOrEqual(25);
    // Sent once, and known to be sent: the next owner starts behind it.
    const sent = again.sent;
    await relay.stop();
    const next = bench.relay(again, { url: other.url('restored') });
    const [last] = await addRows(target, [{ key: 'a' }]);
    await until('the last row', () => again.firsts().includes(last ?? ''));
    expect(again.sent).toBe(sent + 1);
    expect(next.state.epoch).toBeGreaterThan(2n);
  });

  it('goes on with the same paging when the relay is stopped in the middle of it', async () => {
    const client = await bench.client();
    const publisher = new RecordingPublisher();
    const ids = await addRows(
      client,
      Array.from({ length: 100 }, () => ({ key: 'a' })),
    );
    await client.query('UPDATE outbox_cursor SET system_identifier = 1');
    let allowed = 20;
    publisher.before = () => {
      if (--allowed < 0) throw new Error('refused');
    };
    const relay = bench.relay(publisher, { pageRows: 1, readAheadRows: 1 });
    await until('a part', () => publisher.sent === 20);
    await relay.stop(0);
    const { rows } = await client.query<{ last_seq: string }>(
      'SELECT last_seq FROM outbox_cursor WHERE hi = foreign_upto',
    );
    expect(rows).toEqual([{ last_seq: '20' }]);
    publisher.before = () => undefined;
    bench.relay(publisher);
    await until('all', () => publisher.sent === 100);
    expect(publisher.lanes.get('orders.acme.request.v1/0')).toEqual(ids);
  });
});
