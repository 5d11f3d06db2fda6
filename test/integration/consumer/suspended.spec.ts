import { DEFAULT_RETRY } from '../../../src/contracts';
import { Database } from '../../../src/platform/database';
import { systemClock } from '../../../src/platform/clock';
import { PartnerStates } from '../../../src/partners/state/partner-states';
import type { StateVerb } from '../../../src/partners/state/state-change';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { countLockWaiters } from '../../support/lock-waiters';
import { drainOf, laterBy, makeDue, passUntilIdle } from './drain/drain-harness';
import {
  addPartner,
  addShipments,
  appliedSteps,
  ELSEWHERE,
  lockWaiters,
  NOTE,
  openWorld,
  parkedKeys,
  parkedRows,
  run,
  Tape,
  type TestBatch,
  type World,
} from './harness';

const BY = { id: 'key_1', name: 'test', role: 'operator', areas: null, partners: null, origin: 'test' } as const;

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

const change = (verb: StateVerb, database: Database = world.database) =>
  new PartnerStates(database, systemClock).change({ partner, verb, reason: 'a test', seen: undefined, by: BY });
const states = async () => (await parkedRows(world, partner)).map((row) => row.state);
const drain = () => passUntilIdle(drainOf(world));

/** A batch, or a drain, that stands in its handler until it is let go. */
function handlerThatStands() {
  const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    decide: async () => {
      inside.resolve();
      await gate.promise;
      return undefined;
    },
    inside: inside.promise,
    letGo: () => gate.resolve(),
  };
}

describe('what a suspended partner sends', () => {
  test('is kept and not applied, each key in its order, and its offsets go on', async () => {
    await change('suspend');
    const batch = await run(world, [
      tape.record({ key: 'a' }),
      tape.record({ key: 'b' }),
      tape.record({ key: 'a' }),
      tape.record({ key: null }),
      tape.record({ key: null }),
    ]);
    expect(batch.doneUpTo).toBe(4n);
    await run(world, [tape.record({ key: 'b' })]);
    await drain();
    expect(await appliedSteps(world, partner)).toEqual([]);
    expect((await parkedRows(world, partner)).map(({ key, state }) => [key, state])).toEqual([
      ['a', 'waiting'],
      ['b', 'waiting'],
      ['a', 'held'],
      [null, 'waiting'],
      [null, 'waiting'],
      ['b', 'held'],
    ]);
    await change('resume');
    await drain();
    expect(await appliedSteps(world, partner, 'a')).toEqual(['0', '2']);
    expect(await appliedSteps(world, partner, 'b')).toEqual(['1', '5']);
    expect(await appliedSteps(world, partner, 'order-0')).toEqual(['3', '4']);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  test('is judged when it is resumed and not before, whatever it is', async () => {
    await change('suspend');
    const first = tape.record({ key: 'reused' });
    await run(world, [
      tape.record({ key: 'undecodable', value: 'no document' }),
      tape.record({ key: 'tombstone', value: null }),
      tape.record({ key: 'unknown', headers: { ce_type: 'nobody.knows' } }),
      first,
      tape.record({
        key: 'reused',
        id: String(first.headers['ce_id']),
        value: '{"orderNumber":"reused","step":"other"}',
      }),
      first,
    ]);
    expect(await states()).toEqual(['waiting', 'waiting', 'waiting', 'waiting', 'held']);
    const reports = () =>
      world.database.query(`SELECT 1 FROM parked_inbound WHERE partner = :partner AND code IS NOT NULL`, { partner });
    expect(await reports()).toEqual([]);
    await change('resume');
    await drain();
    expect((await parkedRows(world, partner)).map(({ code, state }) => [code, state])).toEqual([
      ['undecodable', 'dead'],
      ['tombstone-unsupported', 'dead'],
      ['contract-unknown', 'dead'],
      [null, 'processed'],
      ['message-id-reused', 'dead'],
    ]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });

  test('keeps its order also where a contract lets later messages of a key go on', async () => {
    await change('suspend');
    await run(
      world,
      tape.records(3, () => ({ contract: NOTE })),
    );
    expect(await states()).toEqual(['waiting', 'held', 'held']);
    await change('resume');
    await drain();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
  });

  test('of one topic holds nothing of another', async () => {
    const shipments = new Tape(await addShipments(world, partner));
    await change('suspend');
    await run(world, [tape.record()]);
    await run(world, [shipments.record({ contract: ELSEWHERE })]);
    expect(await states()).toEqual(['waiting', 'waiting']);
  });

  test('waits behind a message of its key that waited before, which is not tried meanwhile', async () => {
    await run(world, [tape.record(), tape.record()], () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' }));
    await change('suspend');
    await makeDue(world, partner);
    await run(world, [tape.record()]);
    await drain();
    expect(await states()).toEqual(['waiting', 'held', 'held']);
    expect((await parkedRows(world, partner))[0]).toMatchObject({ attempts: 1, code: 'too-early' });
    await change('resume');
    await drain();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
  });

  test('waits as long as it takes and is no older for it: what failed before is tried again', async () => {
    const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not yet' } as const;
    await run(world, [tape.record()], () => tooEarly);
    await change('suspend');
    const clock = laterBy(DEFAULT_RETRY.maxAgeMs + 60 * 60_000);
    await passUntilIdle(drainOf(world, undefined, { clock }));
    await change('resume');
    await passUntilIdle(drainOf(world, () => tooEarly, { clock }));
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', attempts: 2 }]);
    await makeDue(world, partner);
    await drain();
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });

  test('is applied as before while it is only paused', async () => {
    await change('pause');
    await run(world, [tape.record()]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });

  test('concerns nobody else', async () => {
    const other = uniqueName('p');
    const theirs = new Tape(await addPartner(world, other));
    await change('suspend');
    await run(world, [theirs.record()]);
    expect(await appliedSteps(world, other)).toEqual(['0']);
  });
});

describe('a suspension', () => {
  test('waits for a batch that is being applied, and is before the next one', async () => {
    const handler = handlerThatStands();
    const batch = run(world, [tape.record()], handler.decide);
    await handler.inside;
    const suspension = change('suspend');
    await eventually(() => lockWaiters(world), { what: 'the suspension waits for the batch' });
    const next = run(world, [tape.record()]);
    handler.letGo();
    await batch;
    await suspension;
    await next;
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await states()).toEqual(['waiting']);
  });

  test('waits for a drain that has a message in hand, and the next of its key is not tried', async () => {
    await run(world, [tape.record()], () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' }));
    await makeDue(world, partner);
    const handler = handlerThatStands();
    const draining = passUntilIdle(drainOf(world, handler.decide));
    await handler.inside;
    await run(world, [tape.record()]);
    const suspension = change('suspend');
    await eventually(() => lockWaiters(world), { what: 'the suspension waits for the drain' });
    handler.letGo();
    await Promise.all([draining, suspension]);
    await drain();
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await states()).toEqual(['processed', 'waiting']);
  });

  test('that comes between reading and trying keeps what was read', async () => {
    await run(world, [tape.record()], () => ({ kind: 'retry', code: 'too-early', detail: 'not yet' }));
    await makeDue(world, partner);
    const interrupted = new (class extends Database {
      override async transaction<T>(work: Parameters<Database['transaction']>[0]): Promise<T> {
        await change('suspend').catch(() => undefined);
        return (await super.transaction(work)) as T;
      }
    })(world.dataSource);
    await passUntilIdle(drainOf({ ...world, database: interrupted }));
    expect(await appliedSteps(world, partner)).toEqual([]);
    expect((await parkedRows(world, partner))[0]).toMatchObject({ state: 'waiting', attempts: 1 });
  });

  test('between two consumers that have the same records applies or keeps each of them once', async () => {
    const handler = handlerThatStands();
    const records = tape.records(3, () => ({}));
    const before = run(world, records.slice(0, 2), handler.decide);
    await handler.inside;
    const suspension = change('suspend');
    await eventually(() => lockWaiters(world), { what: 'the suspension waits for the first consumer' });
    const after = run(world, records);
    handler.letGo();
    await Promise.all([before, suspension, after]);
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    expect((await parkedRows(world, partner)).map(({ offset, state }) => [offset, state])).toEqual([['2', 'waiting']]);
  });
});

describe('a resumption', () => {
  test('waits for a batch that is being kept, and strands nothing of it', async () => {
    await change('suspend');
    await run(world, [tape.record()]);
    // Who ends the key has it; the arrival waits for that, with its inbox id taken.
    let batch: Promise<TestBatch> | undefined;
    let resumption: Promise<unknown> | undefined;
    await world.database.transaction(async (tx) => {
      await tx.query(`SELECT 1 FROM parked_key FOR UPDATE`);
      batch = run(world, [tape.record(), tape.record({ key: 'other' })]);
      await eventually(async () => (await waiters()) === 1, { what: 'the batch waits for the key' });
      resumption = change('resume');
      await eventually(async () => (await waiters()) === 2, { what: 'the resumption waits for the batch' });
    });
    await Promise.all([batch, resumption]);
    await drain();
    expect((await appliedSteps(world, partner)).toSorted()).toEqual(['0', '1', '2']);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });

  test('is before a batch that comes while it is written, which is then applied behind what was kept', async () => {
    await change('suspend');
    await run(world, [tape.record()]);
    let batch: Promise<TestBatch> | undefined;
    let resumption: Promise<unknown> | undefined;
    await world.database.transaction(async (tx) => {
      await tx.query(`SELECT 1 FROM partner WHERE id = '${partner}' FOR UPDATE`);
      resumption = change('resume');
      await eventually(async () => (await waiters()) === 1, { what: 'the resumption waits for the row' });
      batch = run(world, [tape.record(), tape.record({ key: 'other' })]);
      await eventually(async () => (await waiters()) === 2, { what: 'the batch waits for the resumption' });
    });
    await Promise.all([batch, resumption]);
    expect(await appliedSteps(world, partner)).toEqual(['2']);
    await drain();
    expect(await appliedSteps(world, partner, 'order-1')).toEqual(['0', '1']);
  });

  const waiters = () => countLockWaiters(world.database);
});
