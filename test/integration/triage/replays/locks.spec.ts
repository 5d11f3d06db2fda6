import { createParkedDrain, StaffDesk } from '../../../../src/messaging/consumer';
import { JsonCodec } from '../../../../src/messaging/registry';
import { ReplayOutcomes } from '../../../../src/messaging/triage';
import { query, sqlState } from '../../../../src/platform/database';
import { LIMITS, logger } from '../../consumer/harness';
import { addPartner, caller, openWorld, park, planOf, replayRoom, startOf, type World } from './harness';

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
