import { median, timed } from '../measure.mjs';
import { withClient } from '../servers.mjs';
import { emptyTables, openConsumer, query } from './consumer.mjs';
import { Faults, handlerOf } from './faults.mjs';
import { batchOf, makeRecord } from './messages.mjs';

const SIZE = 500;
/** Where in its batch the one that fails stands: no power of two's neighbour. */
const AT = 321;

/** What one message that fails costs a batch: handler calls and time, beside a batch of which none fails. */
export async function splitRows({ servers, quick, report }, name, partner) {
  await withClient(servers.postgres.url(name), emptyTables);
  const faults = new Faults({ healMs: Infinity, test: (n) => isFailing && n % SIZE === AT });
  let isFailing = false;
  const handler = handlerOf(faults, query);
  // Not tried again within the measurement.
  const consumer = await openConsumer(servers, name, handler, { initialMs: 3_600_000, maxMs: 3_600_000 });
  let next = 0;
  const batch = () => {
    const records = Array.from({ length: SIZE }, () => makeRecord(partner, next++, Infinity));
    return batchOf(records.map((record) => ({ ...record, partition: 0 })));
  };
  const measure = async (rounds) => {
    const [times, calls] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const before = handler.calls;
      times.push(await timed(() => consumer.processor.process(batch())));
      calls.push(handler.calls - before);
    }
    return { ms: median(times), calls: median(calls) };
  };
  try {
    const rounds = quick ? 5 : 25;
    await measure(rounds);
    const without = await measure(rounds);
    isFailing = true;
    const one = await measure(rounds);
    report({ name: `batch of ${SIZE}, none failing`, value: without.ms, unit: 'ms' });
    report({
      ...{ name: `batch of ${SIZE}, one failing`, value: one.ms, unit: 'ms' },
      ...{ ratio: one.ms / without.ms, ratioTo: 'none failing' },
    });
    report({
      name: `batch of ${SIZE}, one failing: handler calls`,
      value: one.calls,
      unit: 'calls',
      ...{ aim: 2 * Math.ceil(Math.log2(SIZE)) + 1, lower: true },
      note: `2 × log2(${SIZE}) + 1 at most: each halving tries both halves`,
    });
  } finally {
    await consumer.close();
  }
}
