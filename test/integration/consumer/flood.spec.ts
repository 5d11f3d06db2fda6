import { ConsumerCounters } from '../../../src/messaging/consumer/counters';
import { createProcessor, pauseChannel, pausedChannels, resumeChannel } from '../../../src/messaging/consumer';
import { DEATHS, FloodGate, type FloodLimits } from '../../../src/messaging/consumer/protection/flood-gate';
import { KeptLimit } from '../../../src/messaging/consumer/protection/kept-limit';
import type { Channel } from '../../../src/messaging/channels';
import { JsonCodec } from '../../../src/messaging/registry';
import { Database } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { recordingLogger } from '../kafka/fixtures';
import {
  addPartner,
  appliedSteps,
  handler,
  LIMITS,
  openWorld,
  parkedRows,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  type World,
} from './harness';

let world: World;
const gates: FloodGate[] = [];
beforeAll(async () => (world = await openWorld()));
afterEach(() => Promise.all(gates.splice(0).map((gate) => gate.stop())));
afterAll(() => world.close());

/** A consumer process with its gate, and a clock that the test moves. */
function startProcess(limits: FloodLimits, clock = { time: Date.now() }, database: Database = world.database) {
  const { channels } = world;
  const { logger, lines } = recordingLogger();
  const now = () => new Date(clock.time);
  const gate = new FloodGate(database, channels, limits, { now }, logger);
  gates.push(gate);
  gate.start();
  const processor = createProcessor(
    {
      config: { ...LIMITS, consumerBatchSize: 10 },
      database,
      channels,
      codec: new JsonCodec(),
      logger,
      contracts: TEST_CONTRACTS,
      clock: { now },
      guards: { gate },
    },
    handler(),
    new ConsumerCounters({ dead: (topic) => gate.died(topic) }),
  );
  return { gate, lines, processor };
}

/** Reads which channels are paused, and says so when it is let. */
class SlowAnswers extends Database {
  readonly answers: PromiseWithResolvers<void>[] = [];
  private ended = false;

  override async query<Row>(text: string, parameters?: Record<string, unknown>): Promise<Row[]> {
    const rows = await super.query<Row>(text, parameters);
    if (!text.includes('FROM channel_pause') || this.ended) return rows;
    const answer = Promise.withResolvers<void>();
    this.answers.push(answer);
    await answer.promise;
    return rows;
  }

  end(): void {
    this.ended = true;
    for (const { resolve } of this.answers) resolve();
  }
}

const garbage = (tape: Tape, count: number) =>
  tape.records(count, (index) => ({ key: `k${index}`, value: Buffer.from([0xff]) }));

async function send(processor: ReturnType<typeof startProcess>['processor'], records: ReturnType<typeof garbage>) {
  const batch = new TestBatch(records);
  await processor.process(batch);
  return batch;
}

const paused = async (partner: string) =>
  (await pausedChannels(world.database)).filter(({ channelId }) =>
    world.channels.inbound().some(({ id, partner: of }) => id === channelId && of === partner),
  );

describe('a flood of dead letters', () => {
  it('pauses its channel, and no other; nothing of it is lost, and the table stops growing', async () => {
    const [partner, other] = [uniqueName('p'), uniqueName('p')];
    const tape = new Tape(await addPartner(world, partner));
    const fine = new Tape(await addPartner(world, other));
    const { gate, lines, processor } = startProcess({ perMinute: 50, open: 10_000 });
    const records = garbage(tape, 1_000);
    const batch = await send(processor, records);
    expect(batch.pauses).toEqual([expect.stringContaining('more than 50 messages died within a minute')]);
    const dead = (await parkedRows(world, partner)).length;
    expect(dead).toBeGreaterThan(50);
    expect(dead).toBeLessThan(120);
    // The offset is that of the last one that has its outcome: the others come again.
    expect(Number(batch.doneUpTo)).toBe(dead - 1);
    expect((await send(processor, records.slice(dead))).done_).toEqual([]);
    expect((await parkedRows(world, partner)).length).toBe(dead);
    expect(gate.pausedTopics).toEqual([tape.topic]);
    expect(gate.trouble).toContain('resume the channel');
    expect(lines.filter((line) => line['code'] === 'channel-flooded')).toHaveLength(1);
    expect(
      (
        await send(
          processor,
          fine.records(5, () => ({})),
        )
      ).pauses,
    ).toEqual([]);
    expect((await appliedSteps(world, other)).length).toBe(5);
  });

  it('lets one more allowance through when staff resume, then pauses again', async () => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    const clock = { time: Date.now() };
    const { gate, processor } = startProcess({ perMinute: 1_000_000, open: 40 }, clock);
    await send(processor, garbage(tape, 200));
    const first = (await parkedRows(world, partner)).length;
    const [pause] = await paused(partner);
    expect(pause).toMatchObject({ code: 'flood', pausedBy: 'parley', reason: 'more than 40 dead letters are open' });
    clock.time += 1_000;
    expect(
      await world.database.transaction((tx) => resumeChannel(tx, pause?.channelId ?? 0, new Date(clock.time))),
    ).toBe(true);
    await eventually(() => !gate.pausedTopics.includes(tape.topic), { what: 'the gate is open' });
    clock.time += 1_000;
    await send(processor, garbage(tape, 200));
    const second = (await parkedRows(world, partner)).length;
    expect(second - first).toBeGreaterThan(40);
    expect(second - first).toBeLessThan(90);
    expect(await paused(partner)).toHaveLength(1);
  });

  it('is counted over all processes', async () => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    const limits = { perMinute: 60, open: 10_000 };
    const [one, two] = [startProcess(limits), startProcess(limits)];
    await send(one.processor, garbage(new Tape(topic, 0), 40));
    await send(two.processor, garbage(new Tape(topic, 1), 40));
    await eventually(() => [one, two].every(({ gate }) => gate.pausedTopics.includes(topic)), { what: 'both obey' });
    expect([...one.lines, ...two.lines].filter((line) => line['code'] === 'channel-flooded')).toHaveLength(1);
  });

  it('pauses its channel for good though the pauses were read just before and are heard of just after', async () => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    const slow = new SlowAnswers(world.dataSource);
    const { gate, processor } = startProcess({ perMinute: 50, open: 10_000 }, undefined, slow);
    try {
      await eventually(() => slow.answers.length === 1, { what: 'the pauses are read' });
      await send(processor, garbage(tape, 100));
      expect(gate.pausedTopics).toContain(tape.topic);
      slow.answers[0]?.resolve();
      await eventually(() => slow.answers.length === 2, { what: 'they are read once more' });
      expect(gate.pausedTopics).toContain(tape.topic);
    } finally {
      slow.end();
    }
  });

  it('pauses its channel for good also where the pauses of a suspended partner, who has sent too much, are read meanwhile', async () => {
    const [quiet, loud] = [uniqueName('p'), uniqueName('p')];
    const [kept, flooded] = [new Tape(await addPartner(world, quiet)), new Tape(await addPartner(world, loud))];
    await world.database.query(`UPDATE partner SET state = 'suspended' WHERE id = :quiet`, { quiet });
    const { processor } = startProcess({ perMinute: 1e6, open: 1e6 });
    await send(
      processor,
      kept.records(4, () => ({})),
    );
    await send(processor, garbage(flooded, 20));

    const slow = new SlowAnswers(world.dataSource);
    const { logger } = recordingLogger();
    const limit = new KeptLimit(slow, world.channels, 2, logger);
    const limits = { perMinute: 10, open: 10_000 };
    const clock = { now: () => new Date() };
    const gate = new FloodGate(slow, world.channels, limits, clock, logger, { kept: limit });
    const closed = ({ topic }: Tape) => gate.closed(world.channels.find(topic) as Channel);
    try {
      limit.note(kept.topic);
      const counting = closed(kept);
      await eventually(() => slow.answers.length === 1, { what: 'the pauses are read' });
      gate.died(flooded.topic);
      expect(await closed(flooded)).toContain('more than 10 messages died');
      slow.end();
      expect(await counting).toContain('more than 2 messages of the suspended partner are kept');
      expect(gate.pausedTopics).toEqual(expect.arrayContaining([kept.topic, flooded.topic]));
    } finally {
      slow.end();
    }
  });

  it.each([
    ['within a minute', { perMinute: 50, open: 10_000 }],
    ['in all', { perMinute: 10_000, open: 50 }],
  ])('is not what a replay fails with again, %s', async (_, limits) => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    const { gate, processor } = startProcess(limits);
    await send(processor, garbage(tape, 45));
    await world.database.query('UPDATE parked_inbound SET replay_id = gen_random_uuid() WHERE partner = :partner', {
      partner,
    });
    await send(processor, garbage(tape, 20));
    await eventually(async () => (await parkedRows(world, partner)).length === 65);
    expect(await gate.closed(world.channels.find(tape.topic) as never)).toBeUndefined();
  });
});

it('obeys a pause of staff within seconds', async () => {
  const partner = uniqueName('p');
  const tape = new Tape(await addPartner(world, partner));
  const { gate, processor } = startProcess({ perMinute: 50, open: 100 });
  const channelId = world.channels.find(tape.topic)?.id ?? 0;
  const by = { code: 'maintenance', reason: 'acme changes its system', pausedBy: 'kate' };
  const pause = () => world.database.transaction((tx) => pauseChannel(tx, { channelId, ...by }, new Date()));
  expect([await pause(), await pause()]).toEqual([true, false]);
  await eventually(() => gate.pausedTopics.includes(tape.topic));
  const batch = await send(
    processor,
    tape.records(3, () => ({})),
  );
  expect([batch.done_, batch.pauses]).toEqual([
    [],
    [expect.stringContaining('acme changes its system (paused by kate)')],
  ]);
});

it('counts a million dead letters at the cost of its bounds', async () => {
  await world.database.query(
    `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, header_names, header_values, code, parked_at, last_failed_at)
     SELECT 'many', 'k', 'dead', 77, 'many-' || n, 't', 0, n, now(), '{}', '{}', 'x', now(), now() - n * interval '1 second' FROM generate_series(1, 50000) n`,
  );
  await world.database.query('ANALYZE parked_inbound');
  const plan = await world.database.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${DEATHS}`, {
    ...{ channelId: 77, minuteAgo: new Date(Date.now() - 60_000), perMinute: 601, most: 2_001 },
  });
  const text = JSON.stringify(plan);
  expect(text.match(/parked_inbound_deaths/g)).toHaveLength(2);
  expect(text).not.toContain('Seq Scan');
  expect(Math.max(...[...text.matchAll(/"Actual Rows":(\d+)/g)].map(([, rows]) => Number(rows)))).toBe(2_001);
});
