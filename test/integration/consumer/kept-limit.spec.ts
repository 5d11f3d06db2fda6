import { createProcessor, pausedChannels } from '../../../src/messaging/consumer';
import { ConsumerCounters } from '../../../src/messaging/consumer/counters';
import { FloodGate } from '../../../src/messaging/consumer/protection/flood-gate';
import { KeptLimit } from '../../../src/messaging/consumer/protection/kept-limit';
import { UnreadRecords } from '../../../src/messaging/consumer/protection/unread-records';
import { JsonCodec } from '../../../src/messaging/registry';
import { PartnerStates } from '../../../src/partners/state/partner-states';
import type { StateVerb } from '../../../src/partners/state/state-change';
import { systemClock } from '../../../src/platform/clock';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { recordingLogger } from '../kafka/fixtures';
import { drainOf, passUntilIdle } from './drain/drain-harness';
import {
  addPartner,
  addShipments,
  appliedSteps,
  handler,
  LIMITS,
  lockWaiters,
  openWorld,
  parkedRows,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  type World,
} from './harness';

const BY = { id: 'key_1', name: 'test', role: 'operator', areas: null, partners: null, origin: 'test' } as const;
const HOUR = 3_600_000;

let world: World;
let partner: string;
let tape: Tape;
const gates: FloodGate[] = [];

beforeAll(async () => (world = await openWorld()));
afterEach(() => Promise.all(gates.splice(0).map((gate) => gate.stop())));
afterAll(() => world.close());
beforeEach(async () => {
  partner = uniqueName('p');
  tape = new Tape(await addPartner(world, partner));
});

const change = (verb: StateVerb) =>
  new PartnerStates(world.database, systemClock).change({
    ...{ partner, verb, reason: 'a test', seen: undefined, by: BY },
  });

/** A consumer process with its gate; topics keep their records for an hour. */
function startProcess(limit: number) {
  const { database, channels } = world;
  const { logger, lines } = recordingLogger();
  const kept = new KeptLimit(database, channels, limit, logger);
  const unread = new UnreadRecords(database, channels, {
    describeTopics: ([topic = '']) =>
      Promise.resolve(
        new Map([
          [topic, { topic, partitions: 1, replicas: 1, maxMessageBytes: 1, keepsMs: 2 * HOUR, retentionMs: HOUR }],
        ]),
      ),
  });
  const gate = new FloodGate(database, channels, { perMinute: 1e6, open: 1e6 }, systemClock, logger, { kept, unread });
  gates.push(gate);
  gate.start();
  const options = { config: { ...LIMITS, consumerBatchSize: 10 }, database, channels, codec: new JsonCodec(), logger };
  const processor = createProcessor(
    { ...options, contracts: TEST_CONTRACTS, guards: { gate } },
    handler(),
    new ConsumerCounters({ held: (topic) => kept.note(topic) }),
  );
  return { gate, kept, lines, processor };
}

async function send({ processor }: ReturnType<typeof startProcess>, records: ReturnType<Tape['records']>) {
  const batch = new TestBatch(records);
  await processor.process(batch);
  return batch;
}

const pauses = async () =>
  (await pausedChannels(world.database)).filter(({ channelId }) =>
    world.channels.inbound().some(({ id, partner: of }) => id === channelId && of === partner),
  );

describe('a suspended partner that sends on and on', () => {
  test('is not read any more when as much is kept as may be, on any of its channels; resumed, it is read on and nothing is lost', async () => {
    const shipments = await addShipments(world, partner);
    await change('suspend');
    const process = startProcess(50);
    const records = tape.records(200, (index) => ({ key: `k${index % 7}` }));
    const batch = await send(process, records);
    const kept = (await parkedRows(world, partner)).length;
    expect(kept).toBeGreaterThan(50);
    expect(kept).toBeLessThanOrEqual(70);
    expect(Number(batch.doneUpTo)).toBe(kept - 1);
    expect(batch.pauses).toEqual([
      expect.stringMatching(/more than 50 messages of the suspended partner are kept .* when the partner is resumed/),
    ]);
    expect(process.gate.pausedTopics.toSorted()).toEqual([tape.topic, shipments].toSorted());
    expect(process.lines.filter((line) => line['code'] === 'suspended-full')).toHaveLength(1);
    expect((await send(process, records.slice(kept))).done_).toEqual([]);

    await change('resume');
    await eventually(() => process.gate.pausedTopics.length === 0, { what: 'it is read again' });
    await passUntilIdle(drainOf(world));
    await send(process, records.slice(kept));
    await passUntilIdle(drainOf(world));
    const applied = await appliedSteps(world, partner);
    expect(applied).toHaveLength(200);
    for (let key = 0; key < 7; key++) {
      const ofKey = applied.map(Number).filter((step) => step % 7 === key);
      expect(ofKey).toEqual(ofKey.toSorted((a, b) => a - b));
    }
  });

  test('is told until when the broker keeps what is unread: of the oldest record', async () => {
    await change('suspend');
    const process = startProcess(5);
    const written = Date.now() - 60_000;
    const records = tape.records(40, (index) => ({ key: `k${index}`, timestamp: written + index * 1_000 }));
    const { length } = (await send(process, records)).done_;
    expect(length).toBeGreaterThan(0);
    const read = (await parkedRows(world, partner)).length;
    const until = new Date(written + read * 1_000 + HOUR);
    await eventually(async () => (await pauses())[0]?.keptUntil?.getTime() === until.getTime(), {
      what: 'it is written down',
    });
    // A partition whose oldest record is older.
    await send(
      process,
      new Tape(tape.topic, 1).records(2, () => ({ key: 'other', timestamp: written - 5_000 })),
    );
    await eventually(async () => (await pauses())[0]?.keptUntil?.getTime() === written - 5_000 + HOUR, {
      what: 'the older one counts',
    });
    await eventually(() => process.gate.unreadKeptUntil.length === 1, { what: 'the gate knows' });
    expect(process.gate.trouble).toContain('the broker keeps what is unread until');
  });

  test('is not paused behind a resumption that comes while it is counted', async () => {
    await change('suspend');
    const process = startProcess(5);
    await send(
      process,
      tape.records(6, (index) => ({ key: `k${index}` })),
    );
    await passUntilIdle(drainOf(world));
    let counting: Promise<boolean> | undefined;
    await world.database.transaction(async (tx) => {
      // Whoever changes the state has this alone; the count has been made already when it is asked for.
      await tx.query(`SELECT pg_advisory_xact_lock(7275393, hashtext($1))`, [partner]);
      await tx.query(`DELETE FROM channel_pause`);
      counting = process.kept.count(partner, new Date());
      await eventually(() => lockWaiters(world), { what: 'the pause waits for the resumption' });
      await tx.query(`UPDATE partner SET state = 'active' WHERE id = $1`, [partner]);
    });
    expect(await counting).toBe(false);
    expect(await pauses()).toEqual([]);
  });

  test('and is active, whatever is held of it, is read', async () => {
    const process = startProcess(5);
    await change('suspend');
    await send(
      process,
      tape.records(4, () => ({})),
    );
    await change('resume');
    const batch = await send(
      process,
      tape.records(40, () => ({})),
    );
    expect(batch.pauses).toEqual([]);
    expect(await pauses()).toEqual([]);
  });
});
