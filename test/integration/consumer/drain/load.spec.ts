import { randomUUID } from 'node:crypto';
import { StaffDesk } from '../../../../src/messaging/consumer';
import { uniqueName } from '../../../support/kafka';
import {
  addPartner,
  type Decide,
  openWorld,
  parkedKeys,
  parkedRows,
  STEP,
  Tape,
  TestBatch,
  type World,
} from '../harness';
import { drainOf, passUntilIdle, processorWith } from './drain-harness';
import { seeded } from './seeded';

const KEYS = 24;
const BATCHES = 30;
const SIZE = 40;
const contracts = [{ ...STEP, retry: { initialMs: 20, maxMs: 40, attempts: 6, maxAgeMs: 86_400_000 } }];
const by = { caller: 'key_test', reason: 'r' };

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const deadlocks = async (): Promise<number> => {
  const [row] = await world.database.query<{ n: string }>(
    'SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(row?.n);
};

test('two consumers, two drains and staff on the same keys keep every key in order, lose and repeat nothing, and never wait in a circle', async () => {
  const partner = uniqueName('p');
  const topic = await addPartner(world, partner);
  const random = seeded(7);
  const left = new Map<string, number>();
  const decide: Decide = ({ id, value }) => {
    const times = left.get(id) ?? Number(value['fails']);
    if (times > 0) left.set(id, times - 1);
    if (times === 0) return undefined;
    return value['kills']
      ? { kind: 'dead', code: 'planned', detail: '' }
      : { kind: 'retry', code: 'planned', detail: '' };
  };
  const tapes = [new Tape(topic, 0), new Tape(topic, 1, 100_000n)];
  // A key is of one partition, so that its records have an order.
  const records = tapes.map((tape, part) =>
    tape.records(BATCHES * SIZE, (index) => {
      const key = `order-${part}-${random.below(KEYS)}`;
      const fails = random.below(25) === 0 ? 1 + random.below(3) : 0;
      return {
        key,
        value: JSON.stringify({ orderNumber: key, step: String(index), fails, kills: random.below(3) === 0 }),
      };
    }),
  );
  let isArriving = true;
  const consume = async (mine: (typeof records)[number]) => {
    const processor = processorWith(world, decide, contracts);
    for (let batch = 0; batch < BATCHES; batch++) {
      await processor.process(new TestBatch(mine.slice(batch * SIZE, (batch + 1) * SIZE)));
    }
    await processor.close();
  };
  const drain = async () => {
    const one = drainOf(world, decide, { contracts });
    while (isArriving) await one.pass();
  };
  const desk = new StaffDesk();
  /** Keys of which staff discarded something: what was behind it may go before it. */
  const overtaken = new Set<string>();
  const staff = async () => {
    while (isArriving) {
      const dead = await world.database.query<{ id: string; version: number; key: string }>(
        `SELECT id, version, key FROM parked_inbound WHERE partner = :partner AND state = 'dead' ORDER BY id LIMIT 20`,
        { partner },
      );
      const [first] = dead;
      const now = new Date();
      if (first) {
        overtaken.add(first.key);
        // Discarded and restored in transactions of their own: in between what is behind has its turn.
        await world.database
          .transaction((tx) => desk.discard(tx, first.id, first.version, by, now))
          .then(() => world.database.transaction((tx) => desk.restore(tx, first.id, first.version + 1, by, now)))
          .catch(() => undefined);
      }
      const ids = dead.map(({ id }) => id);
      await world.database.transaction((tx) => desk.release(tx, ids, randomUUID(), now));
    }
  };
  const before = await deadlocks();
  const others = [drain(), drain(), staff()];
  await Promise.all(records.map(consume)).finally(() => (isArriving = false));
  await Promise.all(others);
  const last = drainOf(world, decide, { contracts, clock: { now: () => new Date(Date.now() + 60_000) } });
  const rest = async () =>
    (await parkedRows(world, partner)).filter(({ state }) => state !== 'processed').map((row) => String(row['id']));
  for (let ids = await rest(); ids.length > 0; ids = await rest()) {
    await world.database.transaction((tx) => desk.release(tx, ids, randomUUID(), new Date()));
    await passUntilIdle(last);
  }
  expect(await deadlocks()).toBe(before);
  const effects = await world.database.query<{ key: string; step: number }>(
    `SELECT order_number AS key, (body->>'step')::int AS step FROM effect WHERE partner = :partner ORDER BY n`,
    { partner },
  );
  expect(effects).toHaveLength(2 * BATCHES * SIZE);
  const inOrder = (steps: readonly number[]) => steps.every((step, n) => n === 0 || step > (steps[n - 1] ?? 0));
  const keys = [...Map.groupBy(effects, ({ key }) => key)];
  const wrong = keys.filter(([key, some]) => !overtaken.has(key) && !inOrder(some.map(({ step }) => step)));
  expect(wrong).toEqual([]);
  expect(overtaken.size).toBeLessThan(keys.length);
  expect(await parkedKeys(world, partner)).toEqual([]);
});
