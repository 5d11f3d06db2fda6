import { setTimeout as delay } from 'node:timers/promises';
import { withDatabase } from './gather.mjs';

/** Longer than a statement may take: despatch advices fail meanwhile. */
const LOCK_MS = 5_000;

/** Three faults, at a quarter, at half and at three quarters of the run. */
export async function makeTrouble(system, seconds, say) {
  const begun = Date.now();
  const at = (share) => delay(Math.max(0, begun + share * seconds * 1000 - Date.now()));
  await at(0.25);
  say(`the table of shipments is locked for ${LOCK_MS / 1000} s: despatch advices fail`);
  await withDatabase(system, async (client) => {
    await client.query('BEGIN');
    await client.query('LOCK TABLE shipment IN ACCESS EXCLUSIVE MODE');
    await delay(LOCK_MS);
    await client.query('ROLLBACK');
  });
  await at(0.5);
  say('the broker is killed (SIGKILL)');
  await system.kafka.kill();
  await delay(2000);
  await system.kafka.restart();
  say('the broker is back');
  await at(0.75);
  say('the database is killed (SIGKILL)');
  await system.postgres.kill();
  await delay(1500);
  await system.postgres.restart();
  say('the database is back');
}
