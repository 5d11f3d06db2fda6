import { StaffDesk } from '../../../../src/messaging/consumer';
import { giveTurns } from '../../../../src/messaging/consumer/key-turns';
import { eventually } from '../../../support/eventually';
import { hold } from '../../../support/faults';
import { uniqueName } from '../../../support/kafka';
import { countLockWaiters } from '../../../support/lock-waiters';
import {
  addPartner,
  appliedSteps,
  CountingDatabase,
  lockWaiters,
  NOTE,
  openWorld,
  parkedKeys,
  parkedRows,
  run,
  Tape,
  type TestBatch,
  type World,
} from '../harness';
import { drainOf, makeDue, passUntilIdle } from './drain-harness';

let world: World;
let partner: string;
let topic: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  // What another test left waiting becomes due some time, and drains, whose transactions are counted here, would try it.
  await world.database.query('TRUNCATE parked_inbound, parked_key, parked_key_end CASCADE');
  partner = uniqueName('p');
  topic = await addPartner(world, partner);
  tape = new Tape(topic);
});

const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not yet' } as const;
const place = () => ({ channelId: world.channels.find(topic)?.id as number, key: 'order-1' });
const states = async () => (await parkedRows(world, partner)).map((row) => row.state);
/** A clock under which a turn that somebody has remembered and not given is late. */
const late = { now: () => new Date(Date.now() + 5_000) };

/** `order-1` waits and is due. */
async function parkOne(): Promise<void> {
  await run(world, [tape.record()], () => tooEarly);
  await makeDue(world, partner);
}

/** A consumer that holds a record behind `order-1` and has not committed yet; `end` lets it. */
async function holdingConsumer(): Promise<{ end: () => Promise<TestBatch> }> {
  const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const batch = run(world, [tape.record(), tape.record({ key: 'order-2' })], async () => {
    inside.resolve();
    await gate.promise;
    return undefined;
  });
  await inside.promise;
  return {
    end: () => {
      gate.resolve();
      return batch;
    },
  };
}

describe('a record that arrives while its key comes to its end', () => {
  test('and was held before the end looked, has its turn, on two drains and two consumers', async () => {
    await parkOne();
    const consumer = await holdingConsumer();
    const drains = [drainOf(world), drainOf(world)];
    const draining = Promise.all(drains.map(passUntilIdle));
    await eventually(() => lockWaiters(world), { what: 'the end of the key waits for the arrival' });
    const other = run(world, [new Tape(topic, 1, 100n).record()]);
    await consumer.end();
    await Promise.all([draining, other]);
    await Promise.all(drains.map(passUntilIdle));
    const [first, ...others] = await appliedSteps(world, partner, 'order-1');
    // The other partition's record has no order with this one's.
    expect([first, others.toSorted()]).toEqual(['0', ['1', '100']]);
    expect(await parkedKeys(world, partner)).toEqual([]);
    expect((await states()).every((state) => state === 'processed')).toBe(true);
  });

  test('and was held before one single statement looked, would be stranded', async () => {
    await parkOne();
    const consumer = await holdingConsumer();
    await world.database.query(`UPDATE parked_inbound SET state = 'processed' WHERE partner = :partner`, { partner });
    const naive = world.database.query(
      `DELETE FROM parked_key k WHERE channel_id = :channelId AND key = :key AND NOT EXISTS (
         SELECT 1 FROM parked_inbound p WHERE p.channel_id = k.channel_id AND p.key = k.key AND state IN ('waiting', 'held', 'dead'))`,
      place(),
    );
    await eventually(() => lockWaiters(world), { what: 'the naive end waits for the arrival' });
    await consumer.end();
    await naive;
    await passUntilIdle(drainOf(world, undefined, { clock: late }));
    expect(await states()).toEqual(['processed', 'held']);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  test('and looks while the end is being written, is applied as if nothing had been parked, by either consumer', async () => {
    await parkOne();
    await world.database.query(`UPDATE parked_inbound SET state = 'processed' WHERE partner = :partner`, { partner });
    let arrivals: Promise<unknown> | undefined;
    await world.database.transaction(async (tx) => {
      await giveTurns(tx, [place()], new Date());
      arrivals = Promise.all([run(world, [tape.record()]), run(world, [new Tape(topic, 1, 100n).record()])]);
      await eventually(async () => (await waiting()) === 2, { what: 'both arrivals wait for the end' });
    });
    await arrivals;
    expect(await appliedSteps(world, partner)).toHaveLength(2);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  const waiting = () => countLockWaiters(world.database);
});

describe('a record that arrives while its key is tried again', () => {
  test('waits for no handler', async () => {
    await parkOne();
    const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const draining = passUntilIdle(
      drainOf(world, async () => {
        inside.resolve();
        await gate.promise;
        return undefined;
      }),
    );
    await inside.promise;
    await run(world, [tape.record()]);
    expect(await states()).toEqual(['waiting', 'held']);
    gate.resolve();
    await draining;
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
  });
});

describe('of two drains', () => {
  /** Calls `between` before the drain's transaction of this number. */
  const interrupted = (number: number, between: () => Promise<unknown>): World => {
    const database = new CountingDatabase(world.dataSource);
    database.before = async (count) => {
      if (count === number) await between();
    };
    return { ...world, database };
  };

  test('that have read the same message one tries it, and one attempt is counted', async () => {
    await parkOne();
    const [seen, other] = [jest.fn(() => tooEarly), jest.fn(() => tooEarly)];
    const second = drainOf(world, other);
    const first = drainOf(
      interrupted(1, () => second.pass()),
      seen,
    );
    await first.pass();
    expect([seen.mock.calls.length, other.mock.calls.length]).toEqual([0, 1]);
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', attempts: 2 }]);
  });

  test('one that reads its message after the other has tried it leaves it to its next attempt', async () => {
    await parkOne();
    const database = new CountingDatabase(world.dataSource);
    const [first, second] = [jest.fn(() => tooEarly), jest.fn(() => tooEarly)];
    // What is due is found by one statement, and its content read by another.
    database.query = async (text, parameters) => {
      if (text.includes('raw_value AS "rawValue"')) await drainOf(world, first).pass();
      return world.database.query(text, parameters);
    };
    await drainOf({ ...world, database }, second).pass();
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 0]);
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', attempts: 2 }]);
  });

  test('one that found its message before the other tried it takes nothing of what has its own turn since', async () => {
    await run(world, [tape.record({ value: 'garbage' }), tape.record({ contract: NOTE }), tape.record()]);
    const [garbage] = await parkedRows(world, partner);
    const by = { caller: 'key_test', reason: 'r' };
    // The note is next, and until it has failed it keeps its place.
    await world.database.transaction((tx) => new StaffDesk().discard(tx, String(garbage?.['id']), 1, by, new Date()));
    const database = new CountingDatabase(world.dataSource);
    database.query = async (text, parameters) => {
      if (text.includes('raw_value AS "rawValue"')) {
        await drainOf(world, () => tooEarly).pass();
        await makeDue(world, partner);
      }
      return world.database.query(text, parameters);
    };
    const tried: (string | undefined)[] = [];
    const slow = drainOf({ ...world, database }, async ({ value }) => {
      tried.push(value.step);
      await drainOf(world, (other) => void tried.push(other.value.step)).pass();
      return undefined;
    });
    await slow.pass();
    await passUntilIdle(drainOf(world, ({ value }) => void tried.push(value.step)));
    expect(tried.toSorted()).toEqual(['1', '2']);
    expect((await appliedSteps(world, partner)).toSorted()).toEqual(['1', '2']);
  });

  test('one that lost its message on the way to count its failure counts nothing', async () => {
    await parkOne();
    const fails = drainOf(
      interrupted(2, () => passUntilIdle(drainOf(world))),
      () => {
        throw new Error('fails here, not there');
      },
    );
    await fails.pass();
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'processed', attempts: 1 }]);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  test('neither has a later message of a key that the other has in hand', async () => {
    await run(
      world,
      tape.records(3, () => ({})),
      ({ value }) => (value.step === '0' ? tooEarly : undefined),
    );
    await makeDue(world, partner);
    const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = passUntilIdle(
      drainOf(world, async () => {
        inside.resolve();
        await gate.promise;
        return undefined;
      }),
    );
    await inside.promise;
    const idle = jest.fn(() => undefined);
    await passUntilIdle(drainOf(world, idle));
    expect(idle).not.toHaveBeenCalled();
    gate.resolve();
    await slow;
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
  });

  test.each([
    ['its key ends', 1],
    ['what is held has its turn', 600],
  ])('one that ends between its transactions strands nothing: %s by another', async (_, count) => {
    await run(
      world,
      tape.records(count, () => ({})),
      ({ value }) => (value.step === '0' ? tooEarly : undefined),
    );
    await makeDue(world, partner);
    const outage = Object.assign(new Error('gone'), { code: '08006' });
    const broken = interrupted(2, () => Promise.reject(outage));
    await expect(drainOf(broken).pass()).rejects.toBe(outage);
    expect(await parkedKeys(world, partner)).toEqual(['order-1']);
    await passUntilIdle(drainOf(world, undefined, { clock: late }));
    expect(await parkedKeys(world, partner)).toEqual([]);
    expect(await appliedSteps(world, partner)).toEqual(Array.from({ length: count }, (_, step) => String(step)));
  });
});

describe('a turn that cannot be given now', () => {
  test('keeps nothing else from being tried, and is given later', async () => {
    await parkOne();
    await world.database.query(`UPDATE parked_inbound SET state = 'processed' WHERE partner = :partner`, { partner });
    await world.database.query(
      `INSERT INTO parked_key_end (channel_id, key, at) VALUES (:channelId, :key, now() - interval '1 hour')`,
      place(),
    );
    const other = uniqueName('p');
    await run(world, [new Tape(await addPartner(world, other)).record()], () => tooEarly);
    await makeDue(world, other);
    const { channelId, key } = place();
    const release = await hold(world.url, 'SELECT 1 FROM parked_key WHERE channel_id = $1 AND key = $2 FOR SHARE', [
      channelId,
      key,
    ]);
    // Long enough for every statement that waits for nobody, also on a busy machine.
    const impatient = await openWorld(world.url, 3_000);
    try {
      await expect(drainOf(impatient).pass()).rejects.toMatchObject({ code: '57014' });
      expect(await appliedSteps(world, other)).toEqual(['0']);
    } finally {
      await impatient.close();
    }
    await release();
    await passUntilIdle(drainOf(world));
    expect(await parkedKeys(world, partner)).toEqual([]);
  });
});
