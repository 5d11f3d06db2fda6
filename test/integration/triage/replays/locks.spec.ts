import { createParkedDrain, StaffDesk } from '../../../../src/messaging/consumer';
import { JsonCodec } from '../../../../src/messaging/registry';
import { ReplayOutcomes } from '../../../../src/messaging/triage';
import { query, sqlState } from '../../../../src/platform/database';
import { LIMITS, logger } from '../../consumer/harness';
import { eventually } from '../../../support/eventually';
import { addPartner, caller, openWorld, outcomesOf, park, planOf, replayRoom, startOf, type World } from './harness';

const ROUNDS = 12;

/** Whether a transaction of this world ended a circle of locks: PostgreSQL counts each. */
const deadlocks = async ({ database }: World): Promise<number> => {
  const [row] = await database.query<{ deadlocks: string }>(
    'SELECT pg_stat_force_next_flush(), deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(row?.deadlocks);
};

describe('replays, drains and staff at the same messages', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await addPartner(world, 'acme');
  });
  afterAll(() => world.close());

  it('a step passes by what another replay has sent and a drain has in hand: it waits for no handler, nor the drain for it', async () => {
    const room = replayRoom(world);
    const value = (orderNumber: string) => ({ orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z' });
    const ofOne = await park(world, 'acme', { count: 2, key: 'hand-1', value: value('hand-1') });
    const ofTwo = await park(world, 'acme', { count: 1, key: 'hand-2', value: value('hand-2') });
    const ids = [...ofOne, ...ofTwo];
    const first = await planOf(room, { ids });
    const second = await planOf(room, { ids });
    for (const { id } of [first, second]) await startOf(room, id);
    await room.step.run(first.id, new Date());
    const [inside, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { database, channels } = world;
    const drain = createParkedDrain(
      { config: LIMITS, database, channels, codec: new JsonCodec(), logger, observer: new ReplayOutcomes() },
      async (_, { messages }) => {
        inside.resolve();
        await gate.promise;
        return messages.map(() => ({ kind: 'applied' as const }));
      },
    );
    const draining = drain.pass();
    await inside.promise;
    let released: number | undefined;
    const step = room.step.run(second.id, new Date()).then((done) => (released = done?.released));
    await eventually(() => released !== undefined, { what: 'the step waits for nobody' }).finally(() => gate.resolve());
    await Promise.all([step, draining]);
    expect(released).toBe(0);
    expect((await outcomesOf(world, second.id)).map(([, outcome, code]) => [outcome, code])).toEqual([
      ...Array<[string, string]>(3).fill(['skipped', 'not-dead']),
    ]);
    expect((await outcomesOf(world, first.id)).map(([, outcome]) => outcome)).toEqual(Array(3).fill('processed'));
  });

  it('never wait for each other in a circle, and every message ends once', async () => {
    const room = replayRoom(world);
    const desk = new StaffDesk();
    const seen: string[] = [];
    const options = {
      ...{ config: LIMITS, database: world.database, channels: world.channels, codec: new JsonCodec(), logger },
      observer: new ReplayOutcomes(),
    };
    const drains = [1, 2].map(() =>
      createParkedDrain(options, (_, { messages }) => {
        seen.push(...messages.map(({ id }) => id));
        return Promise.resolve(messages.map(() => ({ kind: 'applied' as const })));
      }),
    );
    const before = await deadlocks(world);
    for (let round = 0; round < ROUNDS; round++) {
      const keys = Array.from({ length: 6 }, (_, n) => `key-${round}-${n}`);
      const value = (orderNumber: string) => ({ orderNumber, responseCode: 'AP', issuedAt: '2026-03-01T10:00:00Z' });
      const ids: string[] = [];
      for (const key of keys) ids.push(...(await park(world, 'acme', { count: 3, key, value: value(key) })));
      const plans = await Promise.all([planOf(room, { ids }), planOf(room, { ids: ids.toReversed() })]);
      for (const { id } of plans) await startOf(room, id);
      const discard = async (id: string) => {
        const now = new Date();
        await world.database
          .transaction(async (tx) => {
            const [row] = await query<{ version: number }>(tx, 'SELECT version FROM parked_inbound WHERE id = :id', {
              id,
            });
            await desk.discard(tx, id, row?.version ?? 0, { caller: 'key_1', reason: 'r' }, now);
          })
          .catch((error: unknown) => {
            if (sqlState(error) !== undefined) throw error;
          });
      };
      await Promise.all([
        ...plans.map(({ id }) => room.step.run(id, new Date())),
        ...drains.map((drain) => drain.pass()),
        ...ids.filter((_, n) => n % 3 === 1).map(discard),
        room.replays.pause(plans[0]?.id ?? '', caller(), 'r'),
      ]);
      await room.replays.resume(plans[0]?.id ?? '', caller(), 'r');
      for (const { id } of plans) await room.step.run(id, new Date());
      while (await drains[0]?.pass());
    }
    expect(await deadlocks(world)).toBe(before);
    expect(new Set(seen).size).toBe(seen.length);
    const rows = await world.database.query<{ outcome: string }>(
      `SELECT DISTINCT outcome FROM replay_item ORDER BY outcome`,
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(['processed', 'skipped']);
    const left = await world.database.query(
      `SELECT state FROM parked_inbound WHERE state NOT IN ('processed', 'discarded')`,
    );
    expect(left).toEqual([]);
  });
});
