import { median, until } from './measure.mjs';
import { lanesOf, loadOutbox } from './orders.mjs';
import { configOf, load, logger, makeDatabase } from './parley.mjs';
import { dropDatabase, settle, withClient } from './servers.mjs';

export const title = 'Relay: draining a backlog of the outbox';

const { createLanePublisher } = load('../dist/src/messaging/kafka/index.js');
const { createRelay } = load('../dist/src/messaging/outbox/index.js');

const PARTITIONS = 6;
const AIM = 30_000;
const text = (count) => count.toLocaleString('en');

/** Acknowledges at once: what the relay itself can do. */
class NoPublisher {
  #offset = 0n;
  leaderOf() {
    return Promise.resolve(1);
  }
  send({ topic, partition, records }) {
    const baseOffset = this.#offset;
    this.#offset += BigInt(records.length);
    return Promise.resolve({ topic, partition, baseOffset });
  }
  close() {
    return Promise.resolve();
  }
}

async function fill(servers, lanes, count) {
  await withClient(servers.postgres.url('drain'), async (client) => {
    await client.query('TRUNCATE outbox_message, outbox_receipt');
    await loadOutbox(client, lanes, count);
    await client.query('ANALYZE outbox_message');
  });
  await settle(servers);
}

/** Rows a second of a relay that finds `count` rows waiting, from its ownership to the last acknowledgement. */
async function drain(servers, publisher, count) {
  const log = logger();
  let sent = 0;
  let owned = 0;
  let ended = 0;
  const relay = createRelay({
    database: { connection: servers.postgres.url('drain') },
    publisher,
    quarantine: () => publisher,
    source: '/parley',
    instance: 'bench',
    log: {
      info: (_, text) => (owned ||= text === 'relay owns the outbox' ? performance.now() : 0),
      debug: () => undefined,
      warn: log.warn.bind(log),
      error: log.error.bind(log),
    },
    observer: {
      sent: (_, rows) => {
        sent += rows;
        if (sent >= count) ended = performance.now();
      },
      failed: () => undefined,
    },
  });
  relay.start();
  try {
    await until('the drain', () => ended > 0, { progress: () => sent });
  } finally {
    await relay.stop();
  }
  if (sent > count) throw new Error(`${sent} rows were sent of ${count}`);
  return (count * 1000) / (ended - owned);
}

export async function run({ servers, quick, report }) {
  const partners = await makeDatabase(servers, 'drain', { partners: 25, partitions: PARTITIONS });
  const twelve = lanesOf(partners.slice(0, 2), PARTITIONS);
  const all = lanesOf(partners, PARTITIONS);
  const broker = createLanePublisher(configOf(servers, 'drain'), logger(), 'bench');
  const rate = async (publisher, lanes, count) => {
    const rates = [];
    for (let round = 0; round < (quick || count >= 1e6 ? 1 : 3); round++) {
      await fill(servers, lanes, count);
      rates.push(await drain(servers, publisher, count));
    }
    return median(rates);
  };
  const row = (to, { length }, count, value, judged = {}) =>
    report({ name: `${to}, ${length} lanes, ${text(count)} rows waiting`, value, unit: 'rows/s', ...judged });
  const sizes = quick ? [1000, 20_000] : [1000, 100_000, 1_000_000];
  const [, middle] = sizes;
  try {
    await fill(servers, twelve, middle);
    await drain(servers, broker, middle);
    for (const count of sizes) {
      row('no-op publisher', twelve, count, await rate(new NoPublisher(), twelve, count));
    }
    const few = {};
    for (const count of sizes) {
      few[count] = await rate(broker, twelve, count);
      row('to the broker', twelve, count, few[count], count >= middle ? { aim: AIM } : {});
    }
    const many = await rate(broker, all, middle);
    row('to the broker', all, middle, many, { ratio: many / few[middle], ratioTo: '12 lanes', aim: 0.5 });
  } finally {
    await broker.close();
  }
  await dropDatabase(servers, 'drain');
  await settle(servers);
}
