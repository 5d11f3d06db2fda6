import { query } from '../../../src/platform/database';
import { Inbox } from '../../../src/messaging/consumer/inbox';
import { Parked } from '../../../src/messaging/consumer/parked';
import { createProcessor } from '../../../src/messaging/consumer';
import { JsonCodec } from '../../../src/messaging/registry';
import {
  addPartner,
  appliedSteps,
  CountingDatabase,
  type Decide,
  handler,
  LIMITS,
  lockWaiters,
  logger,
  openWorld,
  parkedKeys,
  parkedRows,
  processorOf,
  run,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  type World,
} from './harness';
import { eventually } from '../../support/eventually';
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

describe('a consumer that lost its partition', () => {
  test('parks nothing that the new owner applied', async () => {
    const records = [tape.record(), tape.record()];
    const database = new CountingDatabase(world.dataSource);
    // Transactions of the old owner: the batch of two, its first half, and then its parking, which comes too late.
    database.before = async (count) => {
      if (count === 3) await run(world, records);
    };
    const old = await run({ ...world, database }, records, () => {
      throw new Error('fails here, not there');
    });
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    expect(await parkedRows(world, partner)).toEqual([]);
    expect(await parkedKeys(world, partner)).toEqual([]);
    expect(old.doneUpTo).toBe(1n);
  });

  test.each([
    ['whole halves', 4, 4],
    ['part of a half', 6, 2],
  ])('begins nothing more and acknowledges nothing that it left out, %s', async (_, kept, gone) => {
    const mine = new TestBatch(new Tape(topic, 0).records(kept, () => ({ key: 'order-0' })));
    const lost = new TestBatch(new Tape(topic, 1).records(gone, () => ({ key: 'order-1' })));
    const processor = processorOf(
      world,
      ({ partition }) => {
        if (partition === 0 || lost.stale) return undefined;
        lost.stale = true;
        throw new Error('the batch is tried again in halves');
      },
      { consumerLingerMs: 20 },
    );
    await Promise.all([processor.process(mine), processor.process(lost)]);
    await processor.close();
    expect(mine.doneUpTo).toBe(BigInt(kept - 1));
    expect(await appliedSteps(world, partner, 'order-1')).toEqual([]);
    expect(lost.doneUpTo).toBeUndefined();
    expect(await parkedRows(world, partner)).toEqual([]);
    await run(world, lost.records);
    expect(await appliedSteps(world, partner, 'order-1')).toHaveLength(gone);
  });

  test('waits for a new owner that has begun, and applies nothing twice', async () => {
    const records = tape.records(20, (index) => ({ key: `order-${index % 3}` }));
    const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = run(world, records, async () => {
      inside.resolve();
      await gate.promise;
      return undefined;
    });
    await inside.promise;
    const second = run(world, records.slice(0, 10));
    await eventually(() => lockWaiters(world), { what: 'the second owner waits for the first' });
    gate.resolve();
    const [one, two] = await Promise.all([first, second]);
    expect([one.doneUpTo, two.doneUpTo]).toEqual([19n, 9n]);
    expect(await appliedSteps(world, partner)).toHaveLength(20);
  });
});

describe('two processors at once', () => {
  test('on the same records and overlapping keys apply each once, in order, without blame', async () => {
    const records = Array.from({ length: 6 }, (_, partition) =>
      new Tape(topic, partition).records(60, (index) => ({
        key: `order-${partition}-${index % 5}`,
        id: `m${(partition * 7919 + index * 104729) % 100_003}`,
      })),
    );
    const tooEarly = { kind: 'retry', code: 'too-early', detail: '' } as const;
    const decide: Decide = ({ offset, partition }) => (offset === '30' && partition % 2 === 0 ? tooEarly : undefined);
    const consume = async (order: number[]) => {
      const processor = processorOf(world, decide, { consumerBatchSize: 50, consumerLingerMs: 1 });
      await Promise.all(order.map((partition) => processor.process(new TestBatch(records[partition] ?? []))));
      await processor.close();
    };
    await Promise.all([consume([0, 1, 2, 3, 4, 5]), consume([5, 4, 3, 2, 1, 0])]);
    const parked = await parkedRows(world, partner);
    const applied = await world.database.query<{ order_number: string; step: number }>(
      `SELECT order_number, (body->>'step')::int AS step FROM effect WHERE partner = :partner ORDER BY n`,
      { partner },
    );
    expect(applied.length + parked.length).toBe(360);
    expect(parked.filter((row) => row.state === 'waiting').map((row) => row.code)).toEqual(Array(3).fill('too-early'));
    for (const rows of Map.groupBy(applied, (row) => row.order_number).values()) {
      expect(rows.map((row) => row.step)).toEqual(rows.map((row) => row.step).toSorted((a, b) => a - b));
    }
  });

  test('take the same ids in whatever order they came without a deadlock', async () => {
    const entries = Array.from({ length: 400 }, (_, index) => ({
      channelId: 1_000_000,
      messageId: `${partner}-${(index * 7919) % 1009}`,
      hash: '00',
      partition: 0,
      offset: 0n,
    }));
    // Not through Database.transaction, which would try a deadlock again.
    const take = (list: typeof entries) =>
      world.dataSource.transaction(async (tx) => (await new Inbox().take(tx, list, new Date())).size);
    const taken = await Promise.all(
      [entries, entries.toReversed(), entries.slice(200), entries.toReversed()].map(take),
    );
    expect(taken.reduce((sum, size) => sum + size, 0)).toBe(400);
  });

  test('that deadlock in their handlers are both tried again, and no attempt is counted', async () => {
    await world.database.query('CREATE TABLE IF NOT EXISTS pair (id int PRIMARY KEY, n int)');
    await world.database.query('INSERT INTO pair VALUES (1, 0), (2, 0) ON CONFLICT DO NOTHING');
    const slow = await openWorld(world.url, 10_000);
    const barrier = Promise.withResolvers<void>();
    let arrived = 0;
    const consume = async (ids: number[], part: number) => {
      const { database, channels } = slow;
      const codec = new JsonCodec();
      const processor = createProcessor(
        { config: LIMITS, database, channels, codec, logger, contracts: TEST_CONTRACTS },
        async (_, { tx, messages }) => {
          await query(tx, 'UPDATE pair SET n = n + 1 WHERE id = :id', { id: ids[0] });
          if (++arrived === 2) barrier.resolve();
          await barrier.promise;
          await query(tx, 'UPDATE pair SET n = n + 1 WHERE id = :id', { id: ids[1] });
          return messages.map(() => ({ kind: 'applied' }));
        },
      );
      await processor.process(new TestBatch([new Tape(topic, part).record({ key: `order-${part}` })]));
      await processor.close();
    };
    await slow.channels.load();
    await Promise.all([consume([1, 2], 0), consume([2, 1], 1)]);
    await slow.close();
    expect(arrived).toBeGreaterThanOrEqual(3);
    expect(await parkedRows(world, partner)).toEqual([]);
    expect(await world.database.query('SELECT n FROM pair')).toEqual([{ n: 2 }, { n: 2 }]);
  });
});

describe('the end of a drain', () => {
  const channelId = () => world.channels.find(topic)?.id as number;
  const parkOrder = () =>
    world.database.query(`INSERT INTO parked_key VALUES (:channelId, 'order-1', now())`, { channelId: channelId() });
  const endOfDrain = async (tx: Parameters<typeof query>[0]) => {
    await query(tx, `SELECT 1 FROM parked_key WHERE channel_id = :channelId AND key = 'order-1' FOR UPDATE`, {
      channelId: channelId(),
    });
    const waiting = await query(tx, `SELECT 1 FROM parked_inbound WHERE channel_id = :channelId AND key = 'order-1'`, {
      channelId: channelId(),
    });
    if (waiting.length === 0)
      await tx.query(`DELETE FROM parked_key WHERE channel_id = $1 AND key = 'order-1'`, [channelId()]);
    return waiting.length;
  };

  test('lets a record pass that arrives while the key is released', async () => {
    await parkOrder();
    let late: Promise<TestBatch> | undefined;
    await world.database.transaction(async (tx) => {
      await query(tx, `SELECT 1 FROM parked_key WHERE channel_id = :channelId FOR UPDATE`, { channelId: channelId() });
      late = run(world, [tape.record()]);
      await eventually(() => lockWaiters(world), { what: 'the record waits for the key' });
      await endOfDrain(tx);
    });
    await late;
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('waits for one that parks the key again, though the key was parked meanwhile', async () => {
    await parkOrder();
    await world.database.transaction(async (tx) => {
      // As a transaction that looked before the key was parked, and whose own record waits now.
      await new Parked().parkKeys(tx, [{ channelId: channelId(), key: 'order-1' }], new Date());
      const drain = world.database.query(`SELECT 1 FROM parked_key WHERE channel_id = :channelId FOR UPDATE NOWAIT`, {
        channelId: channelId(),
      });
      await expect(drain).rejects.toMatchObject({ driverError: { code: '55P03' } });
    });
  });

  test('sees a record that is being held', async () => {
    await parkOrder();
    const slow = await openWorld(world.url, 10_000);
    await slow.channels.load();
    const inside = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = run(slow, [tape.record(), tape.record({ key: 'order-2' })], async () => {
      inside.resolve();
      await release.promise;
      return undefined;
    });
    await inside.promise;
    const seen = slow.database.transaction(endOfDrain);
    await eventually(() => lockWaiters(world), { what: 'the drain waits for the holder' });
    release.resolve();
    expect(await seen).toBe(1);
    await holding;
    await slow.close();
    expect(await parkedKeys(world, partner)).toEqual(['order-1']);
  });
});

describe('what waits of one partner', () => {
  test('of several partitions goes into one transaction, each partition in its own order', async () => {
    const database = new CountingDatabase(world.dataSource);
    const processor = processorOf({ ...world, database }, undefined, { consumerLingerMs: 30 });
    const batches = [0, 1, 2].map(
      (part) => new TestBatch(new Tape(topic, part).records(10, () => ({ key: `order-${part}` }))),
    );
    await Promise.all(batches.map((batch) => processor.process(batch)));
    await processor.close();
    expect(database.transactions).toBe(1);
    expect(await appliedSteps(world, partner, 'order-1')).toEqual([...Array(10).keys()].map(String));
  });

  test('is taken in batches no larger than allowed, one at a time for a partition', async () => {
    const sizes: number[] = [];
    let inside = 0;
    const { database, channels } = world;
    const good = handler();
    const config = { ...LIMITS, consumerBatchSize: 100 };
    const processor = createProcessor(
      { config, database, channels, codec: new JsonCodec(), logger, contracts: TEST_CONTRACTS },
      async (contract, batch) => {
        expect(++inside).toBe(1);
        sizes.push(batch.messages.length);
        const outcomes = await good(contract, batch);
        inside--;
        return outcomes;
      },
    );
    const batch = new TestBatch(tape.records(250, () => ({})));
    await processor.process(batch);
    await processor.close();
    expect(sizes).toEqual([100, 100, 50]);
    expect(batch.done_).toEqual([99n, 199n, 249n]);
  });
});
