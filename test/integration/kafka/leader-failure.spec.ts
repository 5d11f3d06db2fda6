import { startKafkaCluster, type KafkaServer } from '../../../scripts/servers/index.mjs';
import { createLanePublisher, type LanePublisher } from '../../../src/messaging/kafka';
import { eventually } from '../../support/eventually';
import { readAll } from '../../support/kafka';
import { closeAll, closing, createTopic, quiet, records, settingsFor, startSource, stopping } from './fixtures';

const LANES = 9;
const BATCH = 20;

let cluster: KafkaServer;

beforeAll(async () => {
  cluster = stopping(await startKafkaCluster());
});
afterAll(closeAll);

/** Sends batches of one lane in order, each until it is acknowledged, while `running()`. */
async function drive(lanes: LanePublisher, topic: string, partition: number, running: () => boolean) {
  const tally = { batches: 0, failures: 0, slowest: 0, outcomes: new Set<string>() };
  for (; running(); tally.batches++) {
    const batch = { topic, partition, records: records(`${partition}:${tally.batches}:`, BATCH) };
    const began = performance.now();
    for (let sent = false; !sent;) {
      sent = await lanes.send(batch).then(
        () => true,
        (error: { outcome?: string }) => {
          tally.failures++;
          tally.outcomes.add(error.outcome ?? 'foreign error');
          return false;
        },
      );
      // The relay backs off too; a dead broker refuses in microseconds.
      if (!sent) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    tally.slowest = Math.max(tally.slowest, performance.now() - began);
  }
  return tally;
}

it('loses and reorders nothing on any lane when a leader is killed under load', async () => {
  const topic = await createTopic('killed', { partitions: LANES, replicationFactor: 3, brokers: cluster.brokers });
  const lanes = closing(createLanePublisher(settingsFor(cluster.brokers), quiet, 'test'));
  const leaders = await Promise.all(Array.from({ length: LANES }, (_, partition) => lanes.leaderOf(topic, partition)));
  const reader = startSource({ topics: [topic], brokers: cluster.brokers });
  await eventually(() => reader.source.state === 'joined');
  let running = true;
  const driven = Promise.all(leaders.map((_, partition) => drive(lanes, topic, partition, () => running)));
  await eventually(() => reader.listener.seen.length > 1_000);
  const victim = leaders[0] ?? 1;
  await cluster.kill(victim - 1);
  await eventually(async () => (await lanes.leaderOf(topic, 0).catch(() => victim)) !== victim);
  const seen = reader.listener.seen.length;
  await eventually(() => reader.listener.seen.length > seen + 1_000, { timeout: 40_000 });
  running = false;
  const tallies = await driven;
  // Its lanes must have felt it, else nothing was tested: the client's one retry may outlast the election, or fail.
  expect(tallies[0]?.slowest).toBeGreaterThan(500);
  const outcomes = new Set(tallies.flatMap((tally) => [...tally.outcomes]));
  expect([...outcomes].filter((outcome) => outcome !== 'unknown' && outcome !== 'refused')).toEqual([]);
  await cluster.restart(victim - 1);
  const written = await readAll(topic, cluster.brokers);
  for (const [partition, { batches }] of tallies.entries()) {
    const wanted = Array.from({ length: batches }, (_, n) =>
      records(`${partition}:${n}:`, BATCH).map(({ key }) => key),
    ).flat();
    const stored = written.filter((record) => record.partition === partition).map(({ value }) => String(value));
    expect([...new Set(stored)]).toEqual(wanted);
  }
  const total = new Set(written.map(({ value }) => String(value))).size;
  await eventually(() => new Set(reader.listener.values).size === total, { timeout: 40_000 });
  for (let partition = 0; partition < LANES; partition++) {
    const read = reader.listener.seen
      .filter((record) => record.partition === partition)
      .map(({ value }) => String(value));
    const stored = written.filter((record) => record.partition === partition).map(({ value }) => String(value));
    expect([...new Set(read)]).toEqual([...new Set(stored)]);
  }
}, 180_000);
