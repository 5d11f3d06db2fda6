import { withDatabase } from '../../soak/gather.mjs';
import { eventually } from '../story.mjs';

/** Sessions that wait for a row which ours has locked: each is about to write down what the provider answered. */
const WAITING = 'SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))';
const UNSETTLED = `SELECT count(*)::int AS count FROM notification WHERE state IN ('pending', 'sending')`;

/** Waits until no notification is under way; what is `unknown` waits for a person. */
export function untilNothingIsUnderWay(system) {
  return withDatabase(system, (database) =>
    eventually('Sending the notifications', async () => {
      const { rows } = await database.query(UNSETTLED);
      return rows[0].count === 0;
    }),
  );
}

/**
 * Kills the notifier between the provider's OK and its note of it, for notifications to all of these addresses at once: when the provider has
 * one and before it says so, we lock its row; the notifier hears OK and waits for the row; when it waits for all of them, it is killed, and what
 * it had begun to write dies with its sessions.
 */
export async function killBetweenSendingAndWriting(system, addresses, send) {
  const { mailbox, phones } = system.people;
  await withDatabase(system, async (database) => {
    const reached = new Set();
    const hold = async (address, id) => {
      if (!addresses.includes(address)) return;
      await database.query('SELECT FROM notification WHERE id = $1 FOR UPDATE', [id]);
      reached.add(address);
    };
    const before = [mailbox.hold, phones.hold];
    await database.query('BEGIN');
    [mailbox.hold, phones.hold] = [hold, hold];
    try {
      await send();
      await eventually('Sending what is asked for', () => reached.size === addresses.length);
      const waiting = await eventually('The answer of each provider', async () => {
        const { rows } = await database.query(WAITING);
        return rows.length === addresses.length && rows.map(({ pid }) => pid);
      });
      await system.killNotifier();
      await database.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [waiting]);
      await eventually('The end of its sessions', async () => (await database.query(WAITING)).rows.length === 0);
    } finally {
      [mailbox.hold, phones.hold] = before;
      await database.query('ROLLBACK');
    }
  });
}
