import { setTimeout as delay } from 'node:timers/promises';
import { Admin } from '@platformatic/kafka';
import { byOrder, readJournal } from './compare.mjs';
import { isSettled } from './expectation.mjs';
import { red, say } from './terminal.mjs';

/**
 * Shows how a series of orders gets on until it is placed and all of it has come to its end: accepted by the API, records in
 * the request topics (by the broker's own word), read by the partners, settled on both sides. False when all are placed and nothing
 * changes for `giveUpMs`: then something is lost, and comparing says what. Throws when they can't even be placed.
 */
export async function watchSeries({ system, client, series, total, run, show, giveUpMs = 90_000 }) {
  const admin = new Admin({ clientId: 'demo', ...system.access.asAdministrator(), retries: 0, timeout: 1500 });
  const base = await recordsIn(admin, system);
  let last = '';
  let changed = Date.now();
  let published = 0;
  try {
    for (;;) {
      const orders = await client.orders();
      const now = await recordsIn(admin, system);
      if (now !== undefined) published = now - (base ?? 0);
      const lines = byOrder(readJournal(system.journal));
      const isOurs = (number) => number.startsWith(`${series}-`);
      const read = [...lines.keys()].filter(isOurs).length;
      const settled = [...(orders ?? [])].filter(
        ([number, order]) => isOurs(number) && isSettled(order, lines.get(number) ?? []),
      ).length;
      const counts = [run.accepted.size, published, read, settled];
      const state = `accepted ${counts[0]}/${total}   in Kafka ${counts[1]}   read by partners ${counts[2]}   settled ${counts[3]}/${total}`;
      show(orders ? state : `${state}   (Parley does not answer)`);
      if (settled === total && run.ended) return true;
      if (state !== last) [last, changed] = [state, Date.now()];
      if (Date.now() - changed > giveUpMs) {
        say(red(`  Nothing moved for ${giveUpMs / 1000} s: ${state}`));
        if (run.ended) return false;
        throw new Error('Not all orders could be placed.');
      }
      await delay(150);
    }
  } finally {
    await admin.close().catch(() => undefined);
  }
}

/** Records that the partitions of all request topics hold; undefined while the broker does not answer. */
async function recordsIn(admin, { requestTopics, partitions }) {
  const ask = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
  try {
    const answers = await admin.listOffsets({ topics: requestTopics.map((name) => ({ name, partitions: ask })) });
    return answers.flatMap((answer) => answer.partitions).reduce((sum, { offset }) => sum + Number(offset), 0);
  } catch {
    return undefined;
  }
}
