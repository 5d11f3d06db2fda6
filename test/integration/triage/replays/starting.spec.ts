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

const DAY = 86_400_000;

describe('starting a replay', () => {
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

  const auditOf = (id: string) =>
    world.database.query<{ action: string }>(`SELECT action FROM audit_entry WHERE object = :object ORDER BY id`, {
      object: `replay/${id}`,
    });
  const stateOf = async (id: string) => (await room.list.find(id, caller()))?.state;

  it('happens once for two who do it at once, and both get the replay', async () => {
    await park(world, 'acme', { count: 2 });
    const { id } = await planOf(room, {});
    const release = await hold(world.url, `SELECT 1 FROM replay WHERE id = '${id}' FOR UPDATE`);
    const both = [startOf(room, id), startOf(room, id, caller({ id: 'key_2', name: 'bob' }))];
    await eventually(async () => (await countLockWaiters(world.database)) >= 2);
    await release();
    const replays = await Promise.all(both);
    expect(replays.map((replay) => [replay.id, replay.state])).toEqual([
      [id, 'running'],
      [id, 'running'],
    ]);
    expect(replays[0]?.startedBy).toEqual(replays[1]?.startedBy);
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(['replay.plan', 'replay.start']);
    await room.step.run(id, now());
    await room.step.run(id, now());
    expect(await releasedIds(world, id)).toHaveLength(2);
    expect(await startOf(room, id)).toMatchObject({ id, state: 'running' });
  });

  it('is refused when its plan has expired, or when more than a tenth of it is gone', async () => {
    const ids = await park(world, 'acme', { count: 10 });
    const resolve = (id?: string) =>
      world.database.transaction((tx) => tx.query(`UPDATE parked_inbound SET state = 'discarded' WHERE id = $1`, [id]));
    const tenth = await planOf(room, {});
    const more = await planOf(room, {});
    await resolve(ids[3]);
    await startOf(room, tenth.id);
    await resolve(ids[4]);
    await expect(startOf(room, more.id)).rejects.toMatchObject({ code: 'plan-changed', message: /2 of the plan's 10/ });
    await room.step.run(tenth.id, now());
    expect((await outcomesOf(world, tenth.id)).slice(2, 6).map(([, outcome, code]) => [outcome, code])).toEqual([
      ['waiting', null],
      ['skipped', 'not-dead'],
      ['skipped', 'not-dead'],
      ['waiting', null],
    ]);
    await park(world, 'acme', { count: 1 });
    const old = await planOf(room, {});
    clock.add(25 * 3_600_000);
    await expect(startOf(room, old.id)).rejects.toMatchObject({ code: 'plan-changed' });
    await room.runner.sweep();
    expect(await stateOf(old.id)).toBe('expired');
    expect(await outcomesOf(world, old.id)).toEqual([]);
    expect(await outcomesOf(world, tenth.id)).toHaveLength(10);
    await expect(startOf(room, old.id)).rejects.toMatchObject({ code: 'plan-changed' });
  });

  it('is kept as long as resolved messages are, and longer while one of its messages waits', async () => {
    const cancelled = async () => {
      await park(world, 'acme', { count: 2 });
      const { id } = await planOf(room, {});
      await startOf(room, id);
      return id;
    };
    const waiting = await cancelled();
    await room.step.run(waiting, now());
    await room.replays.cancel(waiting, caller(), 'r');
    const ended = await cancelled();
    await room.replays.cancel(ended, caller(), 'r');
    clock.add(89 * DAY);
    await room.runner.sweep();
    expect([await stateOf(waiting), await stateOf(ended)]).toEqual(['cancelled', 'cancelled']);
    const late = await cancelled();
    clock.add(2 * DAY);
    await room.runner.sweep();
    expect([await stateOf(waiting), await stateOf(ended), await stateOf(late)]).toEqual([
      'cancelled',
      undefined,
      'running',
    ]);
    expect(await outcomesOf(world, ended)).toEqual([]);
    expect(await auditOf(ended)).not.toEqual([]);
  });

  it('takes an operator, unless it is of one message', async () => {
    const support = caller({ role: 'support' });
    await park(world, 'acme', { count: 1 });
    const one = await planOf(room, {}, support);
    await park(world, 'acme', { count: 1 });
    const two = await planOf(room, {}, support);
    await expect(startOf(room, two.id, support)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await startOf(room, one.id, support)).toMatchObject({ state: 'running' });
  });

  it('is for nobody who may not see all its partners', async () => {
    await addPartner(world, 'umbra');
    await park(world, 'acme', { count: 1 });
    await park(world, 'umbra', { count: 1 });
    const { id } = await planOf(room, {});
    const confined = caller({ id: 'key_3', partners: ['acme'] });
    await expect(startOf(room, id, confined)).rejects.toMatchObject({ code: 'replay-unknown' });
    await expect(room.replays.cancel(id, confined, 'r')).rejects.toMatchObject({ code: 'replay-unknown' });
    expect((await room.list.page(confined, undefined, 10, undefined)).items).toEqual([]);
  });

  it('is kept from who planned it, once confined to other partners', async () => {
    await park(world, 'acme', { count: 1 });
    await park(world, 'umbra', { count: 1 });
    const { id } = await planOf(room, {}, caller({ id: 'oidc:ann' }));
    // As after a planner that died with its set frozen.
    const half = await planOf(room, {}, caller({ id: 'oidc:ann' }));
    await world.database.statement(
      `UPDATE replay SET state = 'planning', plan = NULL, partners = '{}' WHERE id = :id`,
      { id: half.id },
    );
    const confined = caller({ id: 'oidc:ann', partners: ['acme'] });
    for (const one of [id, half.id]) {
      expect(await room.list.find(one, confined)).toBeUndefined();
      await expect(startOf(room, one, confined)).rejects.toMatchObject({ code: 'replay-unknown' });
      await expect(room.replays.cancel(one, confined, 'r')).rejects.toMatchObject({ code: 'replay-unknown' });
    }
    expect((await room.list.page(confined, undefined, 10, undefined)).items).toEqual([]);
    const nothing = await planOf(room, { code: 'none' }, confined);
    expect(await room.list.find(nothing.id, confined)).toMatchObject({ plan: { count: 0 } });
  });

  it('that has not happened yet is called off by whoever planned it, also by support', async () => {
    await park(world, 'acme', { count: 1 });
    const support = caller({ id: 'key_2', role: 'support' });
    const [own, started] = [await planOf(room, {}, support), await planOf(room, {}, support)];
    const others = await planOf(room, {});
    await startOf(room, started.id);
    for (const { id } of [others, started])
      await expect(room.replays.cancel(id, support, 'r')).rejects.toMatchObject({ code: 'forbidden' });
    expect(await room.replays.cancel(own.id, support, 'r')).toMatchObject({ state: 'cancelled' });
  });
});
