import { Consumer } from '@platformatic/kafka';
import { percentile, until } from './measure.mjs';
import { environment, makeDatabase, spawnDriver } from './parley.mjs';
import { dropDatabase, settle } from './servers.mjs';

export const title = 'Latency: from ce_time (taken before the transaction begins) to the partner’s consumer';

/** A partner that notes when each order arrives, by this machine's clock. */
async function listen(servers, partner, delays) {
  const consumer = new Consumer({
    clientId: 'bench-partner',
    groupId: `${partner}.bench`,
    bootstrapBrokers: servers.kafka.brokers.split(','),
  });
  const stream = await consumer.consume({
    topics: [`orders.${partner}.request.v1`],
    mode: 'earliest',
    fallbackMode: 'earliest',
    autocommit: false,
    minBytes: 1,
    maxWaitTime: 500,
  });
  stream.on('data', ({ headers }) => {
    const now = Date.now();
    for (const [name, value] of headers) if (String(name) === 'ce_time') delays.push(now - Date.parse(String(value)));
  });
  return async () => {
    await stream.close();
    await consumer.close();
  };
}

export async function run({ servers, quick, report }) {
  const [partner] = await makeDatabase(servers, 'latency', { partners: 1, partitions: 6 });
  const delays = [];
  const stopListening = await listen(servers, partner, delays);
  const parley = await spawnDriver(environment(servers, 'latency', { ROLES: 'api,relay' }));
  const pace = async (rate, ms) => {
    delays.length = 0;
    const placed = await parley.call('pace', { partners: [partner], rate, ms });
    await until('the partner', () => delays.length >= placed, { progress: () => delays.length });
  };
  try {
    await pace(1000, quick ? 1000 : 5000);
    for (const rate of [200, 1000]) {
      await pace(rate, quick ? 2000 : 15_000);
      const note = `${delays.length} orders, most ${Math.max(...delays)} ms`;
      report({ name: `${rate.toLocaleString('en')} orders/s, p50`, value: percentile(delays, 50), unit: 'ms', note });
      report({ name: `${rate.toLocaleString('en')} orders/s, p99`, value: percentile(delays, 99), unit: 'ms' });
    }
  } finally {
    await parley.stop();
    await stopListening();
  }
  await dropDatabase(servers, 'latency');
  await settle(servers);
}
