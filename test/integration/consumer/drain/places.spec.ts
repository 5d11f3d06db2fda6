import { StaffDesk } from '../../../../src/messaging/consumer';
import { giveTurns } from '../../../../src/messaging/consumer/key-turns';
import type { Tx } from '../../../../src/platform/database';
import { eventually } from '../../../support/eventually';
import { uniqueName } from '../../../support/kafka';
import {
  addPartner,
  appliedSteps,
  lockWaiters,
  openWorld,
  parkedKeys,
  parkedRows,
  run,
  Tape,
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
  partner = uniqueName('p');
  topic = await addPartner(world, partner);
  tape = new Tape(topic);
});

const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not yet' } as const;
const by = { caller: 'key_test', reason: 'r' };
const desk = new StaffDesk();
const states = async () => (await parkedRows(world, partner)).map((row) => row.state);
/** A clock under which a turn that somebody has remembered and not given is late. */
const late = { now: () => new Date(Date.now() + 5_000) };

describe('a record', () => {
  test('of one key that fails at once in two partitions is held behind the other', async () => {
    const other = new Tape(topic, 1, 100n);
    await run(world, [tape.record(), tape.record()], async () => {
      await run(world, [other.record()], () => tooEarly);
      return tooEarly;
    });
    expect(await states()).toEqual(['waiting', 'held', 'held']);
    await makeDue(world, partner);
    await passUntilIdle(drainOf(world, undefined, { clock: late }));
    expect(await appliedSteps(world, partner)).toEqual(['100', '0', '1']);
  });

  test('that fails while a turn is given that another has given before parks its key all the same', async () => {
    await world.database.transaction(async (tx) => {
      let arrives = async () => {
        await run(world, [tape.record()], () => tooEarly);
        arrives = () => Promise.resolve();
      };
      const between = {
        query: async (text: string, values: unknown[]): Promise<unknown> => {
          if (text.startsWith('DELETE')) await arrives();
          return tx.query(text, values);
        },
      };
      await giveTurns(
        between as unknown as Tx,
        [{ channelId: world.channels.find(topic)?.id as number, key: 'order-1' }],
        new Date(),
      );
      await arrives();
    });
    await run(world, [tape.record()]);
    expect(await parkedKeys(world, partner)).toEqual(['order-1']);
    expect(await states()).toEqual(['waiting', 'held']);
  });
});

describe('a message that staff bring back', () => {
  test('waits for a drain that has its key in hand, and then holds what is left', async () => {
    const steps = await discardFirst();
    const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const draining = passUntilIdle(
      drainOf(world, async ({ value }) => {
        inside.resolve();
        await gate.promise;
        return value.step === '2' ? tooEarly : undefined;
      }),
    );
    await inside.promise;
    const restoring = world.database.transaction((tx) => steps.restore(tx));
    await eventually(() => lockWaiters(world), { what: 'the restore waits for the attempt' });
    gate.resolve();
    await Promise.all([draining, restoring]);
    expect(await states()).toEqual(['dead', 'processed', 'held']);
    await makeDue(world, partner);
    await passUntilIdle(drainOf(world, undefined, { clock: late }));
    expect(await appliedSteps(world, partner)).toEqual(['1']);
  });

  test('holds a record that was with its handler meanwhile and then fails', async () => {
    await run(world, [tape.record({ value: 'garbage' })]);
    const [dead] = await parkedRows(world, partner);
    const id = String(dead?.['id']);
    await world.database.transaction((tx) => desk.discard(tx, id, 1, by, new Date()));
    await run(world, [tape.record(), tape.record()], async ({ value }) => {
      if (value.step === '1') await world.database.transaction((tx) => desk.restore(tx, id, 2, by, new Date()));
      return value.step === '1' ? tooEarly : undefined;
    });
    expect(await states()).toEqual(['dead', 'held', 'held']);
    await passUntilIdle(drainOf(world, undefined, { clock: late }));
    expect(await appliedSteps(world, partner)).toEqual([]);
    await world.database.transaction((tx) => desk.discard(tx, id, 3, by, new Date()));
    await passUntilIdle(drainOf(world, undefined, { clock: late }));
    expect(await appliedSteps(world, partner)).toEqual(['1', '2']);
  });

  /** `order-1`: a discarded one, one that is due behind it, and one held behind that. */
  async function discardFirst(): Promise<{ restore: (tx: Tx) => Promise<void> }> {
    await run(world, [tape.record({ value: 'garbage' }), tape.record(), tape.record()]);
    const [dead] = await parkedRows(world, partner);
    const id = String(dead?.['id']);
    await world.database.transaction((tx) => desk.discard(tx, id, 1, by, new Date()));
    return { restore: (tx) => desk.restore(tx, id, 2, by, new Date()) };
  }
});
