import { orderResponse, typeOf } from '../../../../src/contracts';
import { eventually } from '../../../support/eventually';
import { uniqueName } from '../../../support/kafka';
import {
  addPartner,
  caller,
  openWorld,
  outcomesOf,
  park,
  planOf,
  type ReplayRoom,
  replayRoom,
  type World,
} from './harness';

describe('a plan', () => {
  let world: World;
  let room: ReplayRoom;

  beforeEach(async () => {
    world = await openWorld();
    room = replayRoom(world);
    await addPartner(world, 'acme');
    await addPartner(world, 'umbra');
  });
  afterEach(() => world.close());

  it('holds the dead letters that match, and says how many, of whom, since when and how long it takes', async () => {
    const ids = await park(world, 'acme', { count: 3 });
    await park(world, 'umbra', { count: 2 });
    await park(world, 'acme', { count: 1, code: 'other' });
    await park(world, 'acme', { count: 2, state: 'processed' });
    const { plan, state } = await planOf(room, { code: 'handler-failed', contract: 'order-response' });
    expect(state).toBe('planned');
    expect(plan).toMatchObject({
      count: 5,
      byPartner: [
        { partner: 'acme', count: 3 },
        { partner: 'umbra', count: 2 },
      ],
      skipped: [],
      heldBehind: { keys: 0, messages: 0, samples: [] },
      truncated: false,
    });
    expect(Date.parse(plan?.oldest ?? '')).toBeGreaterThan(Date.now() - 60_000);
    const { id } = await planOf(room, { partner: 'acme', code: 'handler-failed' });
    expect(await outcomesOf(world, id)).toEqual(ids.map((parked) => [parked, 'planned', null]));
  });

  it('leaves out what fails after it was made', async () => {
    const ids = await park(world, 'acme', { count: 2 });
    const { id } = await planOf(room, {});
    await park(world, 'acme', { count: 2 });
    expect((await outcomesOf(world, id)).map(([parked]) => parked)).toEqual(ids);
  });

  it('skips what is named and is no dead letter, and does not say whether an id is unknown or of another partner', async () => {
    const [dead] = await park(world, 'acme', { count: 1 });
    const [processed] = await park(world, 'acme', { count: 1, state: 'processed' });
    const [foreign] = await park(world, 'umbra', { count: 1 });
    const ids = [dead, processed, foreign, '999999'].map(String);
    const { id, plan } = await planOf(room, { ids }, caller({ partners: ['acme'] }));
    expect(await outcomesOf(world, id)).toEqual([
      [dead, 'planned', null],
      [processed, 'skipped', 'not-dead'],
    ]);
    expect(plan).toMatchObject({
      count: 1,
      unknownIds: 2,
      byPartner: [{ partner: 'acme', count: 1 }],
      skipped: [{ code: 'not-dead', count: 1, samples: [processed] }],
    });
  });

  it('counts only the partners of a caller that is confined to some', async () => {
    await park(world, 'acme', { count: 1 });
    await park(world, 'umbra', { count: 4 });
    const { id, plan } = await planOf(room, {}, caller({ partners: ['acme'] }));
    expect(plan).toMatchObject({ count: 1, byPartner: [{ partner: 'acme', count: 1 }] });
    expect(await room.list.find(id, caller({ id: 'other', partners: ['umbra'] }))).toBeUndefined();
    expect(await room.list.find(id, caller({ id: 'other', partners: ['acme'] }))).toMatchObject({ id });
  });

  it('skips what stands behind a dead letter that is not in the set, also behind one that is itself skipped', async () => {
    const [first] = await park(world, 'acme', { count: 1, key: 'a', code: 'other' });
    const behind = await park(world, 'acme', { count: 2, key: 'a' });
    const [alone] = await park(world, 'acme', { count: 1, key: 'b' });
    const [edited, behindEdited] = await park(world, 'acme', { count: 2, key: 'c' });
    await world.database.query(
      `INSERT INTO parked_edit (parked_id, message_id, document, diff, reason, state, made_by, made_at)
       VALUES (:edited, gen_random_uuid(), '{}', '[]', 'r', 'pending', 'key_2', now())`,
      { edited },
    );
    const { id, plan } = await planOf(room, { code: 'handler-failed' });
    expect(await outcomesOf(world, id)).toEqual([
      ...behind.map((parked) => [parked, 'skipped', 'behind']),
      [alone, 'planned', null],
      [edited, 'skipped', 'edit-pending'],
      [behindEdited, 'skipped', 'behind'],
    ]);
    expect(plan?.skipped.map(({ code, count }) => [code, count])).toEqual([
      ['behind', 3],
      ['edit-pending', 1],
    ]);
    const whole = await planOf(room, { ids: [String(first), ...behind] });
    expect(whole.plan).toMatchObject({ count: 3, skipped: [] });
  });

  it('says which keys have later messages held behind', async () => {
    await park(world, 'acme', { count: 1, key: 'a' });
    await park(world, 'acme', { count: 3, key: 'a', state: 'held' });
    await park(world, 'acme', { count: 1, key: 'b' });
    await park(world, 'acme', { count: 1, key: 'b', state: 'held' });
    await park(world, 'acme', { count: 1, key: 'c', state: 'held' });
    const { plan } = await planOf(room, {});
    expect(plan?.heldBehind).toEqual({
      keys: 2,
      messages: 4,
      samples: [
        { partner: 'acme', key: 'a', messages: 3 },
        { partner: 'acme', key: 'b', messages: 1 },
      ],
    });
  });

  it('costs what is in it, also where the statistics know of no dead letter', async () => {
    const count = 400;
    const run = (sql: string) => world.dataSource.query<{ n: string }[]>(sql);
    const read = async () => {
      const [row] = await run(
        `SELECT seq_tup_read + idx_tup_fetch AS n FROM pg_stat_user_tables WHERE relname = 'parked_inbound'`,
      );
      return Number(row?.n);
    };
    await run('ALTER TABLE parked_inbound SET (autovacuum_enabled = off)');
    await park(world, 'acme', { count: 5000, state: 'processed' });
    await run('ANALYZE parked_inbound');
    await park(world, 'acme', { count });
    const before = await read();
    // A session has told what it read when it ends, and not much earlier.
    const name = uniqueName('planner');
    const other = await openWorld(world.url, 60_000, name);
    await planOf(replayRoom(other), {});
    await other.close();
    const sessions = `SELECT 1 AS n FROM pg_stat_activity WHERE application_name = 'parley ${name}'`;
    await eventually(async () => (await run(sessions)).length === 0, { what: 'its sessions have ended' });
    const looked = (await read()) - before;
    expect([looked >= count, looked < 50 * count, looked]).toEqual([true, true, looked]);
  });

  it('asks the rooms, a partner and a document at a time, and skips what they advise against unless told otherwise', async () => {
    const ids = await park(world, 'acme', {
      count: 3,
      key: 'order-{n}',
      value: { responseCode: 'AP', orderNumber: 'order-1', issuedAt: '2026-03-01T10:00:00Z' },
    });
    await park(world, 'umbra', { count: 1 });
    const asked: [string, string[]][] = [];
    const read: unknown[] = [];
    room.advisors.add(typeOf(orderResponse), async ({ partner, messages, documents }) => {
      asked.push([partner, messages.map(({ key }) => key)]);
      const found = await documents(messages.map(({ id }) => id));
      read.push(...found.values());
      return new Map(
        messages
          .filter(({ key }) => key === 'order-2')
          .map(({ id }) => [id, { code: 'order-closed', detail: 'Closed.' }]),
      );
    });
    const { id, plan } = await planOf(room, {});
    expect(asked).toEqual([
      ['acme', ['order-1', 'order-2', 'order-3']],
      ['umbra', [expect.any(String)]],
    ]);
    expect(read).toHaveLength(3);
    expect(plan).toMatchObject({
      count: 3,
      skipped: [{ code: 'order-closed', detail: 'Closed.', count: 1, samples: [ids[1]] }],
    });
    expect((await outcomesOf(world, id))[1]).toEqual([ids[1], 'skipped', 'order-closed']);
    const { plan: whole } = await room.replays.plan({ selection: {}, pace: null, includeSkipped: true, by: caller() });
    expect(whole).toMatchObject({ count: 4, skipped: [] });
  });
});
