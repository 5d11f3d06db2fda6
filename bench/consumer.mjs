import { cpuMeter, until } from './measure.mjs';
import { configOf, load, logger, makeDatabase, startHere } from './parley.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

export const title = 'Consumer: partners’ answers to existing orders, by the real handler';
export const needs = ['reference'];

const { createLanePublisher, partitionOf } = load('../dist/src/messaging/kafka/index.js');
const { toHeaders } = load('../dist/src/contracts/index.js');
const { TRANSPORT } = load('../dist/src/app.module.js');

const PARTITIONS = 6;
const AIM = 3;
/** The first part warms up and is not counted. */
const WARM = 0.2;

const orderNumber = (n) => `PO-${String(n).padStart(9, '0')}`;
const correlationOf = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Orders as they stand after their placement: order, event and exchange, half of them each partner's. */
async function placeOrders(client, partners, count) {
  const source = `generate_series(1, $1::int) n
    CROSS JOIN LATERAL (SELECT 'PO-' || lpad(n::text, 9, '0') AS o, ($2::text[])[n % $3::int + 1] AS p,
      '00000000-0000-4000-8000-' || lpad(n::text, 12, '0') AS c) k`;
  const values = [count, partners, partners.length];
  await client.query(
    `INSERT INTO orders (order_number, partner, state, version, currency, lines, deadline, created_at, updated_at)
     SELECT o, p, 'placed', 1, 'EUR', '[{"lineNumber":1,"item":"A-100-4711","quantity":"12.5","unit":"C62","unitPrice":"9.99"}]', now() + interval '1 hour', now(), now() FROM ${source}`,
    values,
  );
  await client.query(
    `INSERT INTO order_event (order_number, version, type, at, message_id, correlation_id, outbox_seq, topic, partition)
     SELECT o, 1, 'placed', now(), gen_random_uuid(), c, n, 'orders.' || p || '.request.v1', 0 FROM ${source}`,
    values,
  );
  await client.query(
    `INSERT INTO exchange (correlation_id, partner, direction, kind, order_number, request_message_id, request_seq, state, deadline, opened_at)
     SELECT c, p, 'out', 'order-request', o, gen_random_uuid(), n, 'awaiting', now() + interval '1 hour', now() FROM ${source}`,
    values,
  );
  await client.query('VACUUM ANALYZE orders, order_event, exchange');
}

function answer(partner, n) {
  const key = orderNumber(n);
  return {
    key,
    value: Buffer.from(JSON.stringify({ orderNumber: key, responseCode: 'AP', issuedAt: '2026-11-29T12:00:00.000Z' })),
    headers: toHeaders({
      id: `10000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      source: `/partners/${partner}`,
      type: 'parley.order-response.v1',
      time: '2026-11-29T12:00:00.000Z',
      subject: key,
      contentType: 'application/json',
      correlationId: correlationOf(n),
    }),
  };
}

async function writeAnswers(servers, partners, count) {
  const publisher = createLanePublisher(configOf(servers, 'consumer'), logger(), 'bench-partner');
  const lanes = new Map();
  const flush = async (lane) => {
    if (lane.records.length > 0) await publisher.send(lane);
    lane.records = [];
  };
  for (let n = 1; n <= count; n++) {
    const partner = partners[n % partners.length];
    const topic = `orders.${partner}.response.v1`;
    const partition = partitionOf(orderNumber(n), PARTITIONS);
    const name = `${topic}/${partition}`;
    if (!lanes.has(name)) lanes.set(name, { topic, partition, records: [] });
    const lane = lanes.get(name);
    lane.records.push(answer(partner, n));
    if (lane.records.length === 500) await flush(lane);
  }
  for (const lane of lanes.values()) await flush(lane);
  await publisher.close();
}

export async function run({ servers, quick, report, reference }) {
  const count = quick ? 20_000 : 200_000;
  const partners = await makeDatabase(servers, 'consumer', { partitions: PARTITIONS });
  await withClient(servers.postgres.url('consumer'), (client) => placeOrders(client, partners, count));
  await writeAnswers(servers, partners, count);
  await settle(servers);
  const parley = await startHere(servers, 'consumer', { ROLES: 'consumer' });
  const transport = parley.app.get(TRANSPORT);
  const counts = (names) =>
    Object.values(transport.health().counts).reduce(
      (sum, topic) => sum + names.reduce((n, name) => n + topic[name], 0),
      0,
    );
  const applied = () => {
    const others = counts(['duplicate', 'held', 'retry', 'dead']);
    if (others > 0) throw new Error(`${others} answers were not applied: see the log`);
    return counts(['applied']);
  };
  try {
    // Seldom: health() looks at every record in hand.
    const progress = { progress: applied, everyMs: 25 };
    await until('the consumer', () => applied() >= count * WARM, progress);
    const cpu = cpuMeter({ postgres: servers.postgres.pid, parley: process.pid, broker: servers.kafka.pids });
    const first = applied();
    const began = performance.now();
    await until('the consumer', () => applied() >= count, progress);
    const elapsed = performance.now() - began;
    const spent = cpu();
    const share = (ms) => (ms / (count - first)).toFixed(3);
    const value = ((count - first) * 1000) / elapsed;
    report({
      name: `${count.toLocaleString('en')} answers, ${partners.length} partners × ${PARTITIONS} partitions`,
      value,
      unit: 'messages/s',
      ratio: value / reference.tps,
      ratioTo: 'the reference',
      aim: AIM,
      note: `CPU ms a message: PostgreSQL ${share(spent.postgres)}, Parley ${share(spent.parley)}, broker ${share(spent.broker)}`,
    });
  } finally {
    await parley.stop();
  }
  await dropDatabase(servers, 'consumer');
  await settle(servers);
}
