import { errorReport, topicFor } from '../../../../src/contracts';
import { StaffDesk } from '../../../../src/messaging/consumer';
import { RegistryUnavailable } from '../../../../src/messaging/registry';
import { type Clock, systemClock } from '../../../../src/platform/clock';
import { NonRetriableError } from '../../../../src/platform/errors';
import { uniqueName } from '../../../support/kafka';
import {
  addChannel,
  addPartner,
  appliedSteps,
  CountingDatabase,
  type Decide,
  handler,
  NOTE,
  openWorld,
  parkedKeys,
  parkedRows,
  run,
  STEP,
  Tape,
  TestBatch,
  type World,
} from '../harness';
import { drainOf, drainWith, laterBy, makeDue, passUntilIdle, processorWith } from './drain-harness';

let world: World;
let partner: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  partner = uniqueName('p');
  tape = new Tape(await addPartner(world, partner));
});

const DAY = 86_400_000;
const dead = { kind: 'dead', code: 'never', detail: 'never' } as const;
const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not yet' } as const;
const rows = () => parkedRows(world, partner);
const contracts = [STEP, NOTE].map((contract) => ({
  ...contract,
  retry: { initialMs: 3_600_000, maxMs: 3_600_000, attempts: 3, maxAgeMs: DAY },
}));

/** Fails a step so many times. */
const failing = (step: string, times: number): Decide => {
  let left = times;
  return ({ value }) => (value.step === step && left-- > 0 ? tooEarly : undefined);
};

async function arrive(
  records: ReturnType<Tape['records']>,
  decide: Decide = () => undefined,
  under = contracts,
): Promise<void> {
  const processor = processorWith(world, decide, under);
  await processor.process(new TestBatch(records));
  await processor.close();
}

/** One round of attempts, by a drain that has just begun. */
async function tryAgain(decide?: Decide): Promise<void> {
  await makeDue(world, partner);
  await passUntilIdle(drainOf(world, decide, { contracts }));
}

/** What is due is put off, and put off again. */
async function registryAway(clock: Clock): Promise<void> {
  await makeDue(world, partner);
  const away: Decide = () => {
    throw new RegistryUnavailable('by plan');
  };
  for (const one of [systemClock, clock]) await passUntilIdle(drainOf(world, away, { contracts, clock: one }));
}

/** It is long due then. */
async function wantedByStaff(clock: Clock): Promise<void> {
  const ids = (await rows()).map((row) => String(row['id']));
  await world.database.transaction((tx) => new StaffDesk().retryNow(tx, ids, clock.now()));
}

describe('a message that failed', () => {
  test('and let its key go on does not hold it later, whatever a new build says of its contract', async () => {
    await run(world, [tape.record({ contract: NOTE })], () => tooEarly);
    await makeDue(world, partner);
    const stricter = [{ ...NOTE, laterMessages: 'hold' as const }];
    await passUntilIdle(drainOf(world, () => tooEarly, { contracts: stricter }));
    expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 2, holds: false }]);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  test('is not tried before it is due, and then as often as it takes; its key keeps its order, other keys flow', async () => {
    const decide = failing('0', 3);
    const patient = contracts.map((contract) => ({ ...contract, retry: { ...contract.retry, attempts: 9 } }));
    const key = (index: number) => ({ key: index % 2 === 0 ? 'order-1' : 'order-2' });
    await arrive(tape.records(6, key), decide, patient);
    const drain = drainOf(world, decide, { contracts: patient });
    await passUntilIdle(drain);
    expect(await rows()).toMatchObject([{ attempts: 1 }, {}, {}]);
    for (let attempt = 2; attempt <= 3; attempt++) {
      await makeDue(world, partner);
      await passUntilIdle(drain);
      expect(await rows()).toMatchObject([
        { attempts: attempt, state: 'waiting' },
        { state: 'held' },
        { state: 'held' },
      ]);
    }
    await arrive(tape.records(2, key), decide, patient);
    expect(await appliedSteps(world, partner, 'order-2')).toEqual(['1', '3', '5', '7']);
    await makeDue(world, partner);
    await passUntilIdle(drain);
    expect(await appliedSteps(world, partner, 'order-1')).toEqual(['0', '2', '4', '6']);
    expect((await rows()).map((row) => [row.state, row['resolved_at'] !== null])).toEqual(
      Array(4).fill(['processed', true]),
    );
    expect(await parkedKeys(world, partner)).toEqual([]);
    await run(world, [tape.record()]);
    expect(await appliedSteps(world, partner, 'order-1')).toEqual(['0', '2', '4', '6', '8']);
  });

  test('keeps its count over restarts and redeliveries; after the last attempt it is dead, holds its key, and its partner is told once', async () => {
    const errors = await addChannel(world, partner, { topic: topicFor(errorReport, partner), direction: 'out' });
    const records = tape.records(2, () => ({}));
    const never: Decide = ({ value }) => (value.step === '0' ? tooEarly : undefined);
    await arrive(records, never);
    await arrive(records, never);
    await tryAgain(never);
    await arrive(records, never);
    expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 2 }, { state: 'held' }]);
    await tryAgain(never);
    await tryAgain(never);
    const [dead, held] = await rows();
    expect(dead).toMatchObject({
      state: 'dead',
      attempts: 3,
      code: 'too-early',
      failed_in: 'handler',
      next_attempt_at: null,
    });
    expect(dead?.['attempt_log']).toMatchObject(Array(3).fill({ code: 'too-early', detail: 'not yet' }));
    expect(held).toMatchObject({ state: 'held', attempts: 0 });
    const reports = await world.database.query<{ payload: Buffer }>(
      'SELECT payload FROM outbox_message WHERE topic = :errors',
      { errors },
    );
    expect(reports.map(({ payload }) => JSON.parse(String(payload)) as unknown)).toMatchObject([
      { code: 'too-early', offset: '0' },
    ]);
  });

  test('is dead after its first attempt where its contract allows no other', async () => {
    const once = [{ ...STEP, retry: { initialMs: 1, maxMs: 1, attempts: 1, maxAgeMs: 1_000 } }];
    const processor = processorWith(world, () => tooEarly, once);
    await processor.process(new TestBatch([tape.record(), tape.record()]));
    await processor.close();
    expect((await rows()).map((row) => row.state)).toEqual(['dead', 'held']);
  });

  test('waits with its key no longer where its contract lets later ones go on', async () => {
    await arrive([tape.record(), tape.record({ contract: NOTE }), tape.record()], failing('0', 1));
    await tryAgain(failing('1', 1));
    expect(await appliedSteps(world, partner)).toEqual(['0', '2']);
    expect(await parkedKeys(world, partner)).toEqual([]);
    await tryAgain();
    expect(await appliedSteps(world, partner)).toEqual(['0', '2', '1']);
  });

  test.each<[string, (clock: Clock) => Promise<void>]>([
    ['nobody is there to try it', () => Promise.resolve()],
    ['the registry is away', registryAway],
    ['nobody is there, though staff want it tried', wantedByStaff],
  ])('is no older for the time in which %s', async (_, meanwhile) => {
    await arrive([tape.record()], () => tooEarly);
    await meanwhile(laterBy(2 * DAY));
    await passUntilIdle(drainOf(world, () => tooEarly, { contracts, clock: laterBy(2 * DAY + 60_000) }));
    expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 2 }]);
  });

  test('is no older for the time in which it is held behind one that staff brought back', async () => {
    await arrive([tape.record(), tape.record()], ({ value }) => (value.step === '0' ? dead : tooEarly));
    const desk = new StaffDesk();
    const act = async (what: 'discard' | 'restore') => {
      const [{ id, version } = { id: '', version: 0 }] = (await rows()) as unknown as { id: string; version: number }[];
      const by = { caller: 'key_test', reason: 'a test' };
      await world.database.transaction((tx) => desk[what](tx, id, version, by, new Date()));
    };
    await act('discard');
    await passUntilIdle(drainOf(world, () => tooEarly, { contracts }));
    await act('restore');
    expect(await rows()).toMatchObject([{ state: 'dead' }, { state: 'held', attempts: 1 }]);
    await world.database.query(
      `UPDATE parked_inbound SET counted_since = counted_since - interval '2 days' WHERE partner = :partner`,
      { partner },
    );
    await act('discard');
    await passUntilIdle(drainOf(world, () => tooEarly, { contracts }));
    expect(await rows()).toMatchObject([{ state: 'discarded' }, { state: 'waiting', attempts: 2 }]);
  });

  test('without a key is tried by itself', async () => {
    await arrive(
      tape.records(3, () => ({ key: null })),
      () => tooEarly,
    );
    await tryAgain(({ offset }) => (offset === '1' ? tooEarly : undefined));
    expect((await rows()).map((row) => [row.state, row.attempts])).toEqual([
      ['processed', 1],
      ['waiting', 2],
      ['processed', 1],
    ]);
  });

  test('by an exception keeps its cause, and never becomes older attempts than it keeps', async () => {
    const fails: Decide = () => {
      throw new NonRetriableError('never-so', 'It cannot be.', { cause: new RangeError('too far') });
    };
    await arrive([tape.record()], () => tooEarly);
    await world.database.query(
      `UPDATE parked_inbound SET attempt_log = (SELECT jsonb_agg(jsonb_build_object('n', n)) FROM generate_series(1, 20) n) WHERE partner = :partner`,
      { partner },
    );
    await tryAgain(fails);
    const [dead] = await rows();
    expect(dead).toMatchObject({
      ...{ state: 'dead', code: 'never-so', failed_in: 'exception', attempts: 2 },
      root_cause: 'NonRetriableError(never-so): It cannot be.\ncaused by RangeError: too far',
    });
    const log = dead?.['attempt_log'] as { n?: number; code?: string }[];
    expect([log.length, log[0]?.n, log.at(-1)?.code]).toEqual([20, 2, 'never-so']);
  });
});

describe('one poison among many', () => {
  test.each([
    ['of as many keys', (index: number) => ({ key: `order-${index}` })],
    ['of one key', () => ({ key: 'order-1' })],
  ])('%s that are due costs about twice log2 of them', async (_, shape) => {
    await arrive(tape.records(500, shape), () => tooEarly);
    await makeDue(world, partner);
    const database = new CountingDatabase(world.dataSource);
    let calls = 0;
    const good = handler(({ value }) => {
      if (value.step === '377') throw new Error('poison');
      return undefined;
    });
    const drain = drainWith(
      { ...world, database },
      (contract, batch) => {
        calls++;
        return good(contract, batch);
      },
      { contracts },
    );
    await passUntilIdle(drain);
    const failed = (await rows()).filter((row) => row.state === 'waiting');
    expect(failed).toMatchObject([{ code: 'handler-failed', offset: '377' }]);
    const bound = 2 * Math.ceil(Math.log2(500)) + 2;
    expect(calls).toBeLessThanOrEqual(bound);
    // Each transaction that resolved a key's head is followed by one that gives the next its turn.
    expect(database.transactions).toBeLessThanOrEqual(2 * bound);
  });
});
