import { percentile } from '../measure.mjs';
import { settle, withClient } from '../servers.mjs';
import { emptyTables, openConsumer, query } from './consumer.mjs';
import { Faults, handlerOf } from './faults.mjs';
import { batchOf, makeRecord, PARTITIONS } from './messages.mjs';
import { NaiveConsumer } from './naive.mjs';

const RATE = 1_000;
const KEYS = 200;
const FAILING = 0;
/** Tried again all the time, so that what that costs the others shows. */
const RETRY = { initialMs: 50, maxMs: 200, attempts: 1_000_000 };

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const isOther = (n) => n % KEYS !== FAILING;

/**
 * Records that come in at a steady rate; a partition takes what waits when it is free, as a fetch does. Resolves with how
 * long each of the other keys' records took from its arrival to its recorded outcome, ms; of those that have none
 * `patienceMs` after the last arrival, with how long they have waited.
 */
async function arrive({ partner, ms, first = 0, patienceMs = 60_000 }, process) {
  const all = [];
  const queues = Array.from({ length: PARTITIONS }, () => []);
  const busy = new Map();
  const work = async (partition) => {
    for (let taken; (taken = queues[partition].splice(0, 500)).length > 0;) {
      await process(taken.map(({ record }) => record));
      for (const arrival of taken) arrival.done = performance.now();
    }
    busy.delete(partition);
  };
  const began = performance.now();
  for (let n = 0, elapsed = 0; elapsed < ms;) {
    await sleep(1);
    elapsed = performance.now() - began;
    for (; n < (Math.min(elapsed, ms) * RATE) / 1000; n++) {
      const record = makeRecord(partner, first + n, KEYS);
      const arrival = { n: first + n, at: began + (n * 1000) / RATE, record };
      all.push(arrival);
      queues[record.partition].push(arrival);
      if (!busy.has(record.partition)) busy.set(record.partition, work(record.partition));
    }
  }
  await Promise.race([Promise.all(busy.values()), sleep(patienceMs)]);
  const now = performance.now();
  return all.filter(({ n }) => isOther(n)).map(({ at, done = now }) => done - at);
}

const TURNS = 3;

export async function latencyRows({ servers, quick, report }, name, partner) {
  const ms = quick ? 2_000 : 10_000;
  const fresh = () => withClient(servers.postgres.url(name), emptyTables).then(() => settle(servers));
  const ours = async (test) => {
    await fresh();
    const faults = new Faults({ healMs: Infinity, test });
    const consumer = await openConsumer(servers, name, handlerOf(faults, query), RETRY);
    try {
      consumer.drain.start();
      const process = (records) => consumer.processor.process(batchOf(records));
      await arrive({ partner, ms: ms / 5 }, process);
      return await arrive({ partner, ms, first: RATE * ms }, process);
    } finally {
      await consumer.close();
    }
  };
  const [none, one] = [[], []];
  // In turns: what the machine does otherwise meets both.
  for (let turn = 0; turn < (quick ? 1 : TURNS); turn++) {
    none.push(...(await ours(() => false)));
    one.push(...(await ours((n) => !isOther(n))));
  }
  const row = (what, delays, percent, judged = {}) =>
    report({ name: `${what}, p${percent}`, value: percentile(delays, percent), unit: 'ms', ...judged });
  const what = `${RATE.toLocaleString('en')} messages/s`;
  row(`${what}, no key fails`, none, 50);
  row(`${what}, no key fails`, none, 99);
  const ratioTo = 'no key failing';
  row(`${what}, one key fails for ever, the others`, one, 50, {
    ratio: percentile(one, 50) / percentile(none, 50),
    ratioTo,
  });
  const ratio = percentile(one, 99) / percentile(none, 99);
  row(`${what}, one key fails for ever, the others`, one, 99, { ratio, ratioTo, aim: 1.5, lower: true });
  const naive = await inPlace(servers, name, partner, ms, fresh);
  row(`${what}, the same, retry in place`, naive, 99, {
    note: `its ${PARTITIONS} partitions; the failing key's one waits 3 s for each of its messages`,
  });
}

/** The same arrivals for the consumer that tries again in place, five times. */
async function inPlace(servers, name, partner, ms, fresh) {
  await fresh();
  const faults = new Faults({ healMs: Infinity, test: (n) => !isOther(n) });
  const consumer = new NaiveConsumer(servers.postgres.url(name), faults, { attempts: 6 });
  try {
    return await arrive({ partner, ms, patienceMs: 1_000 }, (records) => consumer.partition(records));
  } finally {
    await consumer.close();
  }
}
