import { randomUUID } from 'node:crypto';
import type { AnyContract } from '../../../../src/contracts';
import { createParkedDrain, createProcessor, type ReplayObserver, StaffDesk } from '../../../../src/messaging/consumer';
import type { Drain } from '../../../../src/messaging/consumer/drain/drain';
import { JsonCodec } from '../../../../src/messaging/registry';
import { type Clock, systemClock } from '../../../../src/platform/clock';
import { type Decide, handler, LIMITS, logger, TEST_CONTRACTS, type World } from '../harness';

interface DrainShape {
  contracts?: readonly AnyContract[];
  clock?: Clock;
  observer?: ReplayObserver;
}

/** A drain over the world's tables, which runs only when it is told to. */
export const drainOf = (world: World, decide?: Decide, shape?: DrainShape): Drain =>
  drainWith(world, handler(decide), shape);

export function drainWith(world: World, dispatch: ReturnType<typeof handler>, shape: DrainShape = {}): Drain {
  const { database, channels } = world;
  const parts = { config: LIMITS, database, channels, codec: new JsonCodec(), logger, contracts: TEST_CONTRACTS };
  return createParkedDrain({ ...parts, ...shape }, dispatch);
}

export function processorWith(world: World, decide: Decide, contracts: readonly AnyContract[]) {
  const { database, channels } = world;
  return createProcessor(
    { config: LIMITS, database, channels, codec: new JsonCodec(), logger, contracts },
    handler(decide),
  );
}

/** Everything that is due now, and what comes of it. */
export async function passUntilIdle(drain: Drain): Promise<void> {
  while (await drain.pass());
}

/** What waits of the partner's is due. */
export async function makeDue(world: World, partner: string): Promise<void> {
  await world.database.query(
    `UPDATE parked_inbound SET next_attempt_at = now() - interval '1 ms' WHERE partner = :partner AND state = 'waiting'`,
    { partner },
  );
}

/** Every dead letter of the partner's, as a replay releases it. */
export async function releaseAll({ database }: World, partner: string): Promise<void> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM parked_inbound WHERE partner = :partner AND state = 'dead'`,
    { partner },
  );
  const ids = rows.map(({ id }) => id);
  await database.transaction((tx) => new StaffDesk().release(tx, ids, randomUUID(), new Date()));
}

/** A clock that is ahead. */
export const laterBy = (ms: number): Clock => ({ now: () => new Date(systemClock.now().getTime() + ms) });
