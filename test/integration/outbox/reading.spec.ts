import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { pageSql } from '../../../src/messaging/outbox/read-query';
import { addRows, Bench, RecordingPublisher, until } from './harness';

const TOPIC = 'orders.acme.request.v1';

describe('a relay that reads the outbox', () => {
  const bench = new Bench();
  let publisher: RecordingPublisher;

  beforeEach(async () => {
    await bench.open();
    publisher = new RecordingPublisher();
  });
  afterEach(() => bench.close());

  /** Waits until the cursor covers every row that is visible now. */
  const cursorCovers = (client: Client) =>
    until('the cursor', async () => {
      const { rows } = await client.query<{ ok: boolean }>(
        'SELECT bool_and(pg_visible_in_snapshot(xid, done)) AS ok FROM outbox_message, outbox_cursor',
      );
      return rows[0]?.ok ?? true;
    });

  it('sends what was committed before it started, while it runs and before the next one starts, once and in order', async () => {
    const writer = await bench.client();
    const before = await addRows(writer, [{ key: 'a' }, { key: 'b' }]);
    const relay = bench.relay(publisher);
    await until('the first rows', () => publisher.sent === 2);
    const after = await addRows(writer, [{ key: 'a' }, { key: 'b' }]);
    relay.wake();
    await until('the later rows', () => publisher.sent === 4);
    expect(publisher.firsts()).toEqual([...before, ...after]);
    await relay.stop();
    const last = await addRows(writer, [{ key: 'c' }]);
    bench.relay(publisher);
    await until('the last row', () => publisher.sent === 5);
    expect(publisher.lanes.get(`${TOPIC}/0`)).toEqual([...before, ...after, ...last]);
  });

  it('never sends what was rolled back', async () => {
    const writer = await bench.client();
    bench.relay(publisher);
    await writer.query('BEGIN');
    await addRows(writer, [{ key: 'a' }]);
    await writer.query('ROLLBACK');
    await writer.query('BEGIN');
    const [kept] = await addRows(writer, [{ key: 'a' }]);
    await writer.query('SAVEPOINT s');
    await addRows(writer, [{ key: 'a' }]);
    await writer.query('ROLLBACK TO s');
    await writer.query('SAVEPOINT t');
    const [nested] = await addRows(writer, [{ key: 'a' }]);
    await writer.query('COMMIT');
    await until('the rows', () => publisher.sent === 2);
    await cursorCovers(writer);
    expect(publisher.firsts()).toEqual([kept, nested]);
  });

  it('skips no row when the later number commits first', async () => {
    const [early, late] = [await bench.client(), await bench.client()];
    bench.relay(publisher);
    await early.query('BEGIN');
    const [first] = await addRows(early, [{ key: 'a' }]);
    const [second] = await addRows(late, [{ key: 'b' }]);
    await until('the later number', () => publisher.sent === 1);
    await cursorCovers(late);
    await early.query('COMMIT');
    await until('the earlier number', () => publisher.sent === 2);
    expect(publisher.firsts()).toEqual([second, first]);
  });

  it('keeps the order of a key whose later transaction has the lower id', async () => {
    const [one, two] = [await bench.client(), await bench.client()];
    const rows: string[] = [];
    await one.query('BEGIN; SELECT pg_current_xact_id()');
    await two.query('BEGIN; SELECT pg_current_xact_id()');
    rows.push(...(await addRows(two, [{ key: 'a' }])));
    await two.query('COMMIT');
    rows.push(...(await addRows(one, [{ key: 'a' }])));
    await one.query('COMMIT');
    bench.relay(publisher);
    await until('both', () => publisher.sent === 2);
    expect(publisher.firsts()).toEqual(rows);
  });

  it('pages a large backlog in order, once, without an end to its memory', async () => {
    const writer = await bench.client();
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) {
      ids.push(
        ...(await addRows(
          writer,
          Array.from({ length: 33 }, (_, n) => ({ key: `k${n}`, partition: n % 3 })),
        )),
      );
    }
    bench.relay(publisher, { pageRows: 50, readAheadRows: 100 });
    await until('all rows', () => publisher.sent >= 990);
    await cursorCovers(writer);
    for (const partition of [0, 1, 2]) {
      const expected = ids.filter((_, i) => (i % 33) % 3 === partition);
      expect(publisher.lanes.get(`${TOPIC}/${partition}`)).toEqual(expected);
    }
  });

  it('pages over a gap in the numbers that is wider than what one page looks at', async () => {
    const writer = await bench.client();
    const rows = Array.from({ length: 30 }, () => ({ key: 'a' }));
    const before = await addRows(writer, rows);
    await writer.query(`SELECT setval('outbox_message_seq_seq', 5000)`);
    const between = await addRows(writer, rows);
    await writer.query(`SELECT setval('outbox_message_seq_seq', 9000)`);
    bench.relay(publisher, { pageRows: 10 });
    await until('all rows', () => publisher.sent >= 60);
    await cursorCovers(writer);
    expect(publisher.lanes.get(`${TOPIC}/0`)).toEqual([...before, ...between]);
  });

  it('reads pages of large payloads by their bytes', async () => {
    const writer = await bench.client();
    const payload = 'x'.repeat(900_000);
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push(...(await addRows(writer, [{ key: 'a', payload }])));
    const all = { snapshot: { xmin: 999_999_999n, xmax: 999_999_999n, xip: [] }, hi: 30n, last: 0n };
    const page = pageSql({ xmin: 3n, xmax: 3n, xip: [] }, all, { rows: 100, bytes: 2_000_000 });
    expect((await writer.query(page)).rows).toHaveLength(3);
    let release = (): void => undefined;
    publisher.before = () => new Promise((resolve) => (release = resolve));
    const relay = bench.relay(publisher);
    await until('a send', () => publisher.batches.length === 0 && relay.state.pendingRows === 30);
    publisher.before = () => undefined;
    release();
    await until('all rows', () => publisher.sent === 30);
    expect(publisher.lanes.get(`${TOPIC}/0`)).toEqual(ids);
    // A batch of a topic whose limit is unknown stays under Kafka's default of 1 MiB.
    expect(Math.max(...publisher.batches.map((batch) => batch.records.length))).toBe(1);
  });

  it('does not stall behind transactions that stay open, in this or another database of the cluster', async () => {
    const [open, writer, late] = [await bench.client(), await bench.client(), await bench.client()];
    const elsewhere = await bench.client(bench.url.replace(/[^/]+$/, 'postgres'));
    await open.query('BEGIN');
    const [waiting] = await addRows(open, [{ key: 'open' }]);
    await elsewhere.query('BEGIN; SELECT pg_current_xact_id()');
    bench.relay(publisher, { pageRows: 20 });
    for (let i = 1; i <= 50; i++) {
      await addRows(
        writer,
        Array.from({ length: i % 5 === 0 ? 30 : 2 }, () => ({ key: 'a' })),
      );
    }
    await until('everything but the open one', () => publisher.sent === 380);
    await cursorCovers(late);
    await open.query('COMMIT');
    await until('the open one', () => publisher.sent === 381);
    expect(publisher.firsts().at(-1)).toBe(waiting);
    await elsewhere.query('ROLLBACK');
  });

  it('stores the end of a backlog that an empty page found when all was acknowledged, also behind a transaction that stays open', async () => {
    const [open, writer, blocker] = [await bench.client(), await bench.client(), await bench.client()];
    await open.query('BEGIN; SELECT pg_current_xact_id()');
    await addRows(
      writer,
      Array.from({ length: 40 }, () => ({ key: 'a' })),
    );
    // Two full pages; the third, an empty one, is held up until nothing of the second is left to be stored.
    publisher.before = async () => {
      if (publisher.sent === 20) await blocker.query('BEGIN; LOCK TABLE outbox_message');
    };
    bench.relay(publisher, { pageRows: 20, readAheadRows: 20 });
    await until('the second page, stored', async () => {
      const { rows } = await writer.query<{ last: string }>('SELECT last_seq AS last FROM outbox_cursor');
      return rows[0]?.last === '40';
    });
    await blocker.query('ROLLBACK');
    await cursorCovers(writer);
    await open.query('ROLLBACK');
  });

  it('hands over a commit as soon as it is woken, however rarely it polls, and finds one that nobody announced', async () => {
    const writer = await bench.client();
    const real = performance.now.bind(performance);
    let hours = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => real() + hours * 3_600_000);
    bench.onClose(() => Promise.resolve(clock.mockRestore()));
    const relay = bench.relay(publisher, { leaseMs: 100 * 3_600_000 });
    await until('the lease', () => relay.state.role === 'owner');
    /** ms until a row is handed over that comes after a quiet hour, when the relay polls twice a second. */
    const took = async (announce: () => void): Promise<number> => {
      hours++;
      await delay(50);
      const { sent } = publisher;
      await addRows(writer, [{ key: 'a' }]);
      const committed = real();
      announce();
      await until('the row', () => publisher.sent === sent + 1);
      return real() - committed;
    };
    const [announced, unannounced]: number[][] = [[], []];
    for (let turn = 0; turn < 15; turn++) {
      announced?.push(await took(() => relay.wake()));
      unannounced?.push(await took(() => undefined));
    }
    const median = (times: number[] | undefined) => times?.toSorted((a, b) => a - b)[7] ?? 0;
    // Beside each other: how long anything takes is the machine's.
    expect(median(announced)).toBeLessThan(median(unannounced) / 2);
  });

  it('carries the row as a CloudEvent in binary mode', async () => {
    const writer = await bench.client();
    await writer.query(
      `INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, correlationid, causationid, traceparent, dataschema, content_type, time, payload)
       VALUES ('018f0000-0000-7000-8000-000000000001', 'order', 'Ä-1', 'parley.order-request.v1', 't', 2, 'c', 'z', '00-a', 'http://s', 'application/json', '2026-01-02T03:04:05.120Z', '\\x00ff0a'),
              ('018f0000-0000-7000-8000-000000000002', 'order', 'Ä-1', 'parley.order-request.v1', 't', 2, NULL, NULL, NULL, NULL, 'application/json', '2026-01-02T03:04:05Z', NULL)`,
    );
    bench.relay(publisher);
    await until('the rows', () => publisher.sent === 2);
    expect(publisher.batches.flatMap((batch) => batch.records)).toEqual([
      {
        key: 'Ä-1',
        value: Buffer.from([0x00, 0xff, 0x0a]),
        headers: {
          ce_specversion: '1.0',
          ce_id: '018f0000-0000-7000-8000-000000000001',
          ce_source: '/parley/test',
          ce_type: 'parley.order-request.v1',
          ce_time: '2026-01-02T03:04:05.120Z',
          ce_subject: 'Ä-1',
          ce_dataschema: 'http://s',
          'content-type': 'application/json',
          ce_correlationid: 'c',
          ce_causationid: 'z',
          traceparent: '00-a',
        },
      },
      {
        key: 'Ä-1',
        value: null,
        headers: {
          ce_specversion: '1.0',
          ce_id: '018f0000-0000-7000-8000-000000000002',
          ce_source: '/parley/test',
          ce_type: 'parley.order-request.v1',
          ce_time: '2026-01-02T03:04:05.000Z',
          ce_subject: 'Ä-1',
          'content-type': 'application/json',
        },
      },
    ]);
  });
});
