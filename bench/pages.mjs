import pg from 'pg';
import { median } from './measure.mjs';
import { lanesOf, loadOutbox } from './orders.mjs';
import { load, makeDatabase } from './parley.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

export const title =
  'Relay: time of one read (median), which must not grow with the backlog or with retained partitions';

const { OutboxReader } = load('../dist/src/messaging/outbox/reader.js');
const { parseSnapshot } = load('../dist/src/messaging/outbox/snapshot.js');

/** Small enough that a backlog of 1,000 rows is paged too. */
const PAGE = { rows: 500, bytes: 8 * 1024 * 1024 };
const AIM = 1.5;

/** A connection as the relay makes its own. */
async function withReader(url, work) {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => (text) => text } });
  await client.connect();
  try {
    await client.query(
      `SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET max_parallel_workers_per_gather = 0`,
    );
    return await work(client);
  } finally {
    await client.end();
  }
}

const snapshotNow = async (client) =>
  parseSnapshot((await client.query('SELECT pg_current_snapshot()::text AS snapshot')).rows[0].snapshot);

/** Milliseconds of each full page, from the first to the last, over and over until there are enough. Reading changes nothing. */
async function pageTimes(client, done, floor, enough) {
  const times = [];
  while (times.length < enough) {
    const reader = new OutboxReader(client, '/parley', PAGE, { done, window: null }, 0n);
    for (let more = true; more && times.length < enough;) {
      const began = performance.now();
      const result = await reader.read(floor);
      if (result.rows.length === PAGE.rows) times.push(performance.now() - began);
      more = result.more;
    }
  }
  return times;
}

/** Milliseconds of a poll that finds nothing, all rows being sent. */
async function pollTimes(client, count) {
  const done = await snapshotNow(client);
  const reader = new OutboxReader(client, '/parley', PAGE, { done, window: null }, 0n);
  const seq = await reader.look();
  const times = [];
  for (let poll = 0; poll < count; poll++) {
    const began = performance.now();
    await reader.read({ xmax: seq, xmin: seq });
    times.push(performance.now() - began);
  }
  return times;
}

async function measure(servers, name, { partitions, sizes, samples }) {
  const total = sizes.at(-1);
  const partners = await makeDatabase(servers, name, { outboxPartitionRows: Math.ceil(total / partitions) });
  const url = servers.postgres.url(name);
  const result = { pages: {}, poll: 0 };
  await withClient(url, async (writer) => {
    // The first partition comes with the schema; here all are of one size.
    await writer.query('DROP TABLE outbox_message_p1, outbox_receipt_p1');
    const rows = Math.ceil(total / partitions);
    for (let index = 0; index <= partitions; index++) {
      await writer.query(
        `CREATE TABLE page_${index} PARTITION OF outbox_message FOR VALUES FROM (${index * rows + 1}) TO (${(index + 1) * rows + 1})`,
      );
    }
    await withReader(url, async (reader) => {
      const done = await snapshotNow(reader);
      let loaded = 0;
      for (const size of sizes) {
        await loadOutbox(writer, lanesOf(partners, 6), size - loaded);
        loaded = size;
        await writer.query('VACUUM ANALYZE outbox_message');
        await pageTimes(reader, done, { xmax: 0n, xmin: 0n }, 20);
        result.pages[size] = median(await pageTimes(reader, done, { xmax: 0n, xmin: 0n }, samples));
      }
      await pollTimes(reader, 50);
      result.poll = median(await pollTimes(reader, samples));
    });
  });
  await dropDatabase(servers, name);
  await settle(servers);
  return result;
}

export async function run({ servers, quick, report }) {
  const total = quick ? 100_000 : 1_000_000;
  const samples = quick ? 100 : 1000;
  const eight = await measure(servers, 'pages8', { partitions: 8, sizes: [1000, total / 10, total], samples });
  const hundred = await measure(servers, 'pages100', { partitions: 100, sizes: [total], samples });
  const row = (name, value, base, ratioTo) =>
    report({ name, value, unit: 'ms', ...(base ? { ratio: value / base, ratioTo, aim: AIM, lower: true } : {}) });
  const text = (count) => count.toLocaleString('en');
  const [[, smallest]] = Object.entries(eight.pages);
  for (const [size, value] of Object.entries(eight.pages)) {
    const base = value === smallest ? undefined : smallest;
    row(
      `page of ${PAGE.rows} rows, 8 partitions, ${text(Number(size))} rows waiting`,
      value,
      base,
      '1,000 rows waiting',
    );
  }
  row(
    `page of ${PAGE.rows} rows, 100 partitions, ${text(total)} rows waiting`,
    hundred.pages[total],
    eight.pages[total],
    '8 partitions',
  );
  row(`poll that finds nothing, 8 partitions, ${text(total)} rows sent`, eight.poll);
  row(`poll that finds nothing, 100 partitions, ${text(total)} rows sent`, hundred.poll, eight.poll, '8 partitions');
}
