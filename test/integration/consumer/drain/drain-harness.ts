import { JsonCodec } from '../../../../src/messaging/registry';
import { createParkedDrain } from '../../../../src/messaging/consumer';
import type { Drain } from '../../../../src/messaging/consumer/drain/drain';
import { type Decide, handler, LIMITS, logger, TEST_CONTRACTS, type World } from '../harness';

/** A drain over the world's tables, which runs only when it is told to. */
export function drainOf(world: World, decide?: Decide): Drain {
  const { database, channels } = world;
  return createParkedDrain(
    { config: LIMITS, database, channels, codec: new JsonCodec(), logger, contracts: TEST_CONTRACTS },
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
