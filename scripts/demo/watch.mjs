import { setTimeout as delay } from 'node:timers/promises';
import { Admin } from '@platformatic/kafka';
import { readJournal } from './compare.mjs';

const FINAL = new Set(['accepted', 'rejected', 'changed']);

/**
 * Shows how a series of orders gets on until all have their final state: accepted by the API, records in the request
 * topic (by the broker's own word), read by the partner, answered. Throws after `giveUpMs` without any change.
 */
export async function watchSeries({
  system,
  client,
  series,
  total,
  accepted,
  show,
  topic,
  partitions,
  giveUpMs = 90_000,
}) {
  const admin = new Admin({ clientId: 'demo', bootstrapBrokers: [system.kafka.brokers], retries: 0, timeout: 1500 });
  const base = await recordsIn(admin, topic, partitions);
  let last = '';
  let changed = Date.now();
  let published = 0;
  try {
    for (;;) {
      const orders = await client.orders();
      const ofSeries = [...(orders?.values() ?? [])].filter((order) => order.orderNumber.startsWith(`${series}-`));
      const final = ofSeries.filter((order) => FINAL.has(order.state)).length;
      const now = await recordsIn(admin, topic, partitions);
      if (now !== undefined) published = now - (base ?? 0);
      const seen = new Set(readJournal(system.journal).flatMap((line) => (line.kind === 'seen' ? line.order : [])));
      const read = [...seen].filter((order) => order.startsWith(`${series}-`)).length;
      const state = `accepted ${accepted.size}/${total}   in Kafka ${published}   read by the partner ${read}   final ${final}/${total}`;
      show(orders ? state : `${state}   (Parley does not answer)`);
      if (final === total) return;
      if (state !== last) [last, changed] = [state, Date.now()];
      if (Date.now() - changed > giveUpMs) throw new Error(`Nothing moved for ${giveUpMs / 1000} s: ${state}`);
      await delay(150);
    }
  } finally {
    await admin.close().catch(() => undefined);
  }
}

/** Records that the topic's partitions hold; undefined while the broker does not answer. */
async function recordsIn(admin, topic, partitions) {
  const ask = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
  try {
    const [answer] = await admin.listOffsets({ topics: [{ name: topic, partitions: ask }] });
    return answer.partitions.reduce((sum, { offset }) => sum + Number(offset), 0);
  } catch {
    return undefined;
  }
}
