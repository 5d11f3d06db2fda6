import { ReplayOutcomes } from '../../../../src/messaging/triage';
import { ITEM_OUTCOMES } from '../../../../src/messaging/triage/replays/replay';
import {
  addPartner,
  caller,
  openWorld,
  outcomesOf,
  park,
  planOf,
  releasedIds,
  type ReplayRoom,
  replayRoom,
  startOf,
  TestClock,
  type World,
} from './harness';
import { countLockWaiters } from '../../../support/lock-waiters';
import { eventually } from '../../../support/eventually';
import { hold } from '../../../support/faults';

describe('a replay', () => {
  let world: World;
  let room: ReplayRoom;
  const clock = new TestClock();
  const now = () => clock.now();

  beforeAll(async () => {
    world = await openWorld();
    room = replayRoom(world, world.database, clock);
    await addPartner(world, 'acme');
  });
  beforeEach(() =>
    world.database.transaction((tx) => tx.query('TRUNCATE replay, replay_item, parked_inbound CASCADE')),
  );
  afterAll(() => world.close());

  const started = async (count: number, pace?: number) => {
    const ids = await park(world, 'acme', { count });
    const { id } = await planOf(room, {});
    await startOf(room, id, caller(), pace);
    return { id, ids };
  };
  const auditOf = (id: string) =>
    world.database.query<{ action: string; caller: string; reason: string | null }>(
      `SELECT action, caller, reason FROM audit_entry WHERE object = :object ORDER BY id`,
      { object: `replay/${id}` },
    );
  const stateOf = async (id: string) => (await room.list.find(id, caller()))?.state;

  it('sends exactly what the plan showed, also when new failures arrive meanwhile', async () => {
    const ids = await park(world, 'acme', { count: 700 });
    const { id } = await planOf(room, {});
    await park(world, 'acme', { count: 50 });
    await startOf(room, id);
    await room.step.run(id, now());
    await park(world, 'acme', { count: 50 });
    await room.step.run(id, now());
    expect(await room.step.run(id, now())).toBeUndefined();
    expect(await releasedIds(world, id)).toEqual(ids);
    const [row] = await world.database.query<{ dead: number }>(
      `SELECT count(*)::int AS dead FROM parked_inbound WHERE state = 'dead'`,
    );
    expect(row?.dead).toBe(100);
  });

  it('is done when every message has its end: sent again is not processed, and a retry is not a failure', async () => {
    const { id, ids } = await started(4);
    const outcomes = new ReplayOutcomes();
    const settle = (index: number, result: 'processed' | 'waiting' | 'failed-again', code?: string) =>
      world.database.transaction((tx) =>
        outcomes.settled(tx, [
          { parkedId: String(ids[index]), replayId: id, result, code, detail: code && 'It says why.' },
        ]),
      );
    const counts = async () => {
      const progress = await room.list.progress([id]);
      return ITEM_OUTCOMES.map((outcome) => progress.get(id)?.outcomes[outcome]);
    };
    expect(await counts()).toEqual([4, 0, 0, 0, 0]);
    await room.runner.pass();
    expect(await counts()).toEqual([0, 4, 0, 0, 0]);
    await settle(0, 'processed');
    await settle(1, 'waiting', 'too-early');
    await settle(2, 'failed-again', 'handler-failed');
    await room.runner.pass();
    expect(await stateOf(id)).toBe('running');
    expect(await outcomesOf(world, id)).toEqual([
      [ids[0], 'processed', null],
      [ids[1], 'waiting', 'too-early'],
      [ids[2], 'failed-again', 'handler-failed'],
      [ids[3], 'waiting', null],
    ]);
    await settle(1, 'processed');
    await settle(3, 'processed');
    // Once more, and otherwise: what has an end keeps it.
    await settle(3, 'failed-again', 'late');
    await settle(2, 'processed');
    await room.runner.pass();
    await room.runner.pass();
    expect(await stateOf(id)).toBe('done');
    expect((await outcomesOf(world, id)).map(([, outcome]) => outcome)).toEqual([
      'processed',
      'processed',
      'failed-again',
      'processed',
    ]);
    expect(await counts()).toEqual([0, 0, 3, 1, 0]);
  });

  it('says nothing of an outcome whose transaction rolls back', async () => {
    const { id, ids } = await started(1);
    await room.step.run(id, now());
    await world.database
      .transaction(async (tx) => {
        await new ReplayOutcomes().settled(tx, [
          { parkedId: String(ids[0]), replayId: id, result: 'processed', code: undefined, detail: undefined },
        ]);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await outcomesOf(world, id)).toEqual([[ids[0], 'waiting', null]]);
  });

  it('skips what somebody else resolved, and whose edit waits for a second person, when its turn comes', async () => {
    const { id, ids } = await started(3);
    await world.database.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO parked_edit (parked_id, message_id, document, diff, reason, state, made_by, made_at)
         VALUES ($1, gen_random_uuid(), '{}', '[]', 'r', 'pending', 'key_2', now())`,
        [ids[1]],
      );
      await tx.query(`UPDATE parked_inbound SET state = 'discarded' WHERE id = $1`, [ids[0]]);
    });
    await room.step.run(id, now());
    expect(await outcomesOf(world, id)).toEqual([
      [ids[0], 'skipped', 'not-dead'],
      [ids[1], 'skipped', 'edit-pending'],
      [ids[2], 'waiting', null],
    ]);
  });

  it('does not send a message whose edit came in while its turn was being given', async () => {
    const { id, ids } = await started(2);
    const editor = world.dataSource.createQueryRunner();
    await editor.startTransaction();
    await editor.query('SELECT 1 FROM parked_inbound WHERE id = $1 FOR UPDATE', [ids[0]]);
    const step = room.step.run(id, now());
    await eventually(async () => (await countLockWaiters(world.database)) >= 1);
    await editor.query(
      `INSERT INTO parked_edit (parked_id, message_id, document, diff, reason, state, made_by, made_at)
       VALUES ($1, gen_random_uuid(), '{}', '[]', 'r', 'pending', 'key_2', now())`,
      [ids[0]],
    );
    await editor.commitTransaction();
    await editor.release();
    expect((await step)?.released).toBe(1);
    expect(await outcomesOf(world, id)).toEqual([
      [ids[0], 'skipped', 'edit-pending'],
      [ids[1], 'waiting', null],
    ]);
  });

  it('stops releasing while it is paused, and goes on where it stood', async () => {
    const { id, ids } = await started(600);
    await room.step.run(id, now());
    expect(await room.replays.pause(id, caller(), 'look first')).toMatchObject({ state: 'paused' });
    expect(await room.step.run(id, now())).toBeUndefined();
    await room.runner.pass();
    expect(await releasedIds(world, id)).toEqual(ids.slice(0, 500));
    expect(await room.replays.pause(id, caller(), 'again')).toMatchObject({ state: 'paused' });
    await room.replays.resume(id, caller(), 'looked');
    await room.runner.pass();
    expect(await releasedIds(world, id)).toEqual(ids);
    expect((await auditOf(id)).map(({ action, reason }) => [action, reason])).toEqual([
      ['replay.plan', null],
      ['replay.start', 'healed'],
      ['replay.pause', 'look first'],
      ['replay.resume', 'looked'],
    ]);
  });

  it('that is cancelled during a step ends behind that step, and the rest is skipped', async () => {
    const { id, ids } = await started(700);
    const release = await hold(world.url, `SELECT 1 FROM parked_inbound WHERE id = ${ids[0]} FOR UPDATE`);
    const step = room.step.run(id, now());
    await eventually(async () => (await countLockWaiters(world.database)) >= 1);
    const cancelled = room.replays.cancel(id, caller(), 'wrong set');
    await eventually(async () => (await countLockWaiters(world.database)) >= 2);
    await release();
    expect((await step)?.released).toBe(500);
    expect(await cancelled).toMatchObject({ state: 'cancelled' });
    expect(await releasedIds(world, id)).toEqual(ids.slice(0, 500));
    expect((await outcomesOf(world, id)).slice(500)).toEqual(
      ids.slice(500).map((parked) => [parked, 'skipped', 'cancelled']),
    );
    expect(await room.step.run(id, now())).toBeUndefined();
    await expect(room.replays.resume(id, caller(), 'no')).rejects.toMatchObject({ code: 'replay-state' });
    await expect(startOf(room, id)).rejects.toMatchObject({ code: 'replay-state' });
    expect(await room.replays.cancel(id, caller(), 'again')).toMatchObject({ state: 'cancelled' });
  });

  it('releases nothing twice when the process that runs it is cut off in the middle: another goes on', async () => {
    const { id, ids } = await started(600);
    await room.step.run(id, now());
    const release = await hold(world.url, `SELECT 1 FROM parked_inbound WHERE id = ${ids[550]} FOR UPDATE`);
    const cut = room.step.run(id, now());
    const failed = expect(cut).rejects.toThrow();
    await eventually(async () => (await countLockWaiters(world.database)) >= 1);
    await world.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    await failed;
    expect(await releasedIds(world, id)).toEqual(ids.slice(0, 500));
    await release();
    const other = await openWorld(world.url);
    try {
      expect((await replayRoom(other).step.run(id, now()))?.released).toBe(100);
    } finally {
      await other.close();
    }
    expect(await releasedIds(world, id)).toEqual(ids);
    const versions = await world.database.query(`SELECT 1 FROM replay_item WHERE outcome = 'planned'`);
    expect(versions).toEqual([]);
  });

  it('is at its pace also with two processes at once: one does a step, the other passes by', async () => {
    const { id, ids } = await started(5, 1);
    const release = await hold(world.url, `SELECT 1 FROM parked_inbound WHERE id = ${ids[0]} FOR UPDATE`);
    const first = room.step.run(id, now());
    await eventually(async () => (await countLockWaiters(world.database)) >= 1);
    const other = await openWorld(world.url);
    try {
      expect(await replayRoom(other).step.run(id, now())).toBeUndefined();
      await release();
      expect((await first)?.released).toBe(1);
      expect(await replayRoom(other).step.run(id, now())).toEqual({ released: 0, more: false });
    } finally {
      await other.close();
    }
    expect(await releasedIds(world, id)).toEqual([ids[0]]);
  });
});
