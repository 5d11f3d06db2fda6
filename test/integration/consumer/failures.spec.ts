import { query } from '../../../src/platform/database';
import { AppError, NonRetriableError } from '../../../src/platform/errors';
import { createProcessor } from '../../../src/messaging/consumer';
import type { AnyContract } from '../../../src/contracts';
import { JsonCodec } from '../../../src/messaging/registry';
import {
  addPartner,
  appliedSteps,
  CountingDatabase,
  type Decide,
  handler,
  LIMITS,
  logger,
  openWorld,
  parkedRows,
  processorOf,
  run,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  type World,
} from './harness';
import { uniqueName } from '../../support/kafka';

let world: World;
let partner: string;
let topic: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  partner = uniqueName('p');
  topic = await addPartner(world, partner);
  tape = new Tape(topic);
});

const failAt =
  (step: string, error: () => Error = () => new TypeError('handler bug')): Decide =>
  ({ value }) => {
    if (value.step === step) throw error();
    return undefined;
  };

describe('a handler that throws', () => {
  test('costs its record an attempt, holds its key, and lets everything else flow in order', async () => {
    const before = Date.now();
    const batch = await run(
      world,
      tape.records(40, (index) => ({ key: `order-${index % 4}` })),
      failAt('17'),
    );
    expect(batch.doneUpTo).toBe(39n);
    const rows = await parkedRows(world, partner);
    expect(rows[0]).toMatchObject({ state: 'waiting', code: 'handler-failed', offset: '17', attempts: 1 });
    expect(rows[0]?.next_attempt_at?.getTime()).toBeGreaterThan(before);
    expect(rows.slice(1).map((row) => [row.offset, row.state])).toEqual(
      [21, 25, 29, 33, 37].map((offset) => [String(offset), 'held']),
    );
    expect(await appliedSteps(world, partner, 'order-1')).toEqual(['1', '5', '9', '13']);
    expect(await appliedSteps(world, partner, 'order-2')).toHaveLength(10);
  });

  test('costs about twice log2 of the batch in transactions', async () => {
    const database = new CountingDatabase(world.dataSource);
    const batch = tape.records(500, (index) => ({ key: `order-${index}` }));
    await run({ ...world, database }, batch, failAt('123'));
    expect(await appliedSteps(world, partner)).toHaveLength(499);
    // A busy database may have one or two of them run again.
    expect(database.transactions).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(500)) + 4);
  });

  test('lets the group hear of us between its failing attempts, each of which may take long', async () => {
    const batch = new TestBatch(tape.records(16, (index) => ({ key: `order-${index}` })));
    const heard: number[] = [];
    const processor = processorOf(world, ({ value }) => {
      if (value.step !== '0') return undefined;
      heard.push(batch.heartbeats);
      throw new Error('slow and wrong');
    });
    await processor.process(batch);
    await processor.close();
    expect(heard).toEqual([0, 1, 2, 3, 4]);
    expect(await parkedRows(world, partner)).toMatchObject([{ code: 'handler-failed', offset: '0' }]);
  });

  test('once well, takes one transaction for a whole batch', async () => {
    const database = new CountingDatabase(world.dataSource);
    await run(
      { ...world, database },
      tape.records(500, (index) => ({ key: `order-${index}` })),
    );
    expect(database.transactions).toBe(1);
  });

  test('keeps its count where the record comes again after a restart', async () => {
    const records = tape.records(2, () => ({}));
    await run(world, records, failAt('0'));
    await run(world, records, failAt('0'));
    expect((await parkedRows(world, partner)).map((row) => row.attempts)).toEqual([1, 0]);
  });

  test('a NonRetriableError makes a dead letter at once, under its code', async () => {
    const error = () => new NonRetriableError('never-so', 'It can not be.');
    await run(
      world,
      tape.records(3, (index) => ({ key: `order-${index}` })),
      failAt('1', error),
    );
    expect(await parkedRows(world, partner)).toMatchObject([
      { state: 'dead', code: 'never-so', attempts: 1, next_attempt_at: null },
    ]);
  });

  test('an AppError gives its own code', async () => {
    await run(
      world,
      [tape.record()],
      failAt('0', () => new AppError('stock-unknown', 'Ask again.')),
    );
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', code: 'stock-unknown' }]);
  });

  test("a database error is the record's, and costs the others nothing", async () => {
    const records = tape.records(3, (index) => ({
      key: `order-${index}`,
      value: JSON.stringify({ orderNumber: `order-${index}`, step: index === 1 ? 'a\0b' : String(index) }),
    }));
    await run(world, records);
    expect(await appliedSteps(world, partner)).toEqual(['0', '2']);
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', code: 'handler-failed', offset: '1' }]);
  });
});

describe('a handler that breaks its promise', () => {
  const runRaw = async (raw: Parameters<typeof createProcessor>[1], records = tape.records(4, () => ({}))) => {
    const { database, channels } = world;
    const codec = new JsonCodec();
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec, logger, contracts: TEST_CONTRACTS },
      raw,
    );
    await processor.process(new TestBatch(records));
    await processor.close();
  };

  test('by applying behind a message that waits overtakes nothing', async () => {
    const good = handler();
    await runRaw(async (contract: AnyContract, batch) => {
      const first = batch.messages.findIndex((message) => message.offset === '1');
      const others = batch.messages.filter((_, index) => index !== first);
      await good(contract, { ...batch, messages: others });
      return batch.messages.map((_, index) =>
        index === first ? { kind: 'retry', code: 'too-early', detail: '' } : { kind: 'applied' },
      );
    });
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect((await parkedRows(world, partner)).map((row) => [row.offset, row.state])).toEqual([
      ['1', 'waiting'],
      ['2', 'held'],
      ['3', 'held'],
    ]);
  });

  test('by too few outcomes, or by holding behind nothing, costs an attempt and writes nothing', async () => {
    await runRaw(() => Promise.resolve([]), [tape.record({ key: 'order-1' })]);
    await runRaw(() => Promise.resolve([{ kind: 'held' }]), [tape.record({ key: 'order-2' })]);
    expect(await parkedRows(world, partner)).toMatchObject([{ code: 'handler-broken' }, { code: 'handler-broken' }]);
  });

  test('by swallowing a database error loses nothing', async () => {
    await runRaw(
      async (_, { tx, messages }) => {
        await query(tx, 'SELECT 1/0').catch(() => undefined);
        return messages.map(() => ({ kind: 'applied' }));
      },
      [tape.record()],
    );
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  });

  test('by going on behind a swallowed error is no outage that everybody waits for', async () => {
    await runRaw(
      async (_, { tx, messages }) => {
        await query(tx, 'SELECT 1/0').catch(() => undefined);
        await query(tx, 'SELECT 1');
        return messages.map(() => ({ kind: 'applied' }));
      },
      [tape.record()],
    );
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', code: 'handler-failed', attempts: 1 }]);
  });
});

describe('a statement that takes too long', () => {
  test('halves the batch, and alone counts as an attempt', async () => {
    const raw = handler();
    const { database, channels } = world;
    const codec = new JsonCodec();
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec, logger, contracts: TEST_CONTRACTS },
      async (contract, batch) => {
        if (batch.messages.some((message) => message.offset === '2')) {
          // This one alone: on a busy machine any other might take as long.
          await query(batch.tx, `SET LOCAL statement_timeout = '200ms'`);
          await query(batch.tx, 'SELECT pg_sleep(60)');
        }
        return raw(contract, batch);
      },
    );
    const batch = new TestBatch(tape.records(4, (index) => ({ key: `order-${index}` })));
    await processor.process(batch);
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '3']);
    expect(await parkedRows(world, partner)).toMatchObject([
      { code: 'statement-timeout', state: 'waiting', attempts: 1, offset: '2' },
    ]);
    expect(batch.doneUpTo).toBe(3n);
  });
});
