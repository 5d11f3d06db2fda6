import { answer, orderNumber, placeOrders } from './answers.mjs';
import { cpuMeter, until } from './measure.mjs';
import { configOf, load, logger, makeDatabase, startHere } from './parley.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

export const title = 'Consumer: partners’ answers to existing orders, by the real handler';
export const needs = ['reference'];

const { createLanePublisher, partitionOf } = load('../dist/src/messaging/kafka/index.js');
const { TRANSPORT } = load('../dist/src/app.module.js');

const PARTITIONS = 6;
const AIM = 3;
/** The first part warms up and is not counted. */
const WARM = 0.2;

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
