// A Parley process with the roles of its environment that places orders through its own service API when it is told to.
import { load } from './parley.mjs';
import { anOrder } from './orders.mjs';

const { loadConfig } = load('../dist/src/platform/config/index.js');
const { start } = load('../dist/src/start.js');
const { TRANSPORT } = load('../dist/src/app.module.js');
const { OrderService } = load('../dist/src/orders/index.js');
const { createLogger } = load('../dist/src/platform/telemetry/index.js');

let running;
let service;
/** Orders that may have been placed by now: what keeps accepting from running away from answering. */
let allowed = Infinity;
let waiting = [];
let placed = 0;

async function place(partners) {
  await service.place(anOrder(partners[placed++ % partners.length]));
}

async function roomToPlace() {
  while (placed >= allowed) await new Promise((resolve) => waiting.push(resolve));
}

const verbs = {
  async start() {
    running = await start(loadConfig(), createLogger(process.env.LOG_LEVEL, 'bench'));
    await running.started;
    service = running.app.get(OrderService);
  },

  allow(orders) {
    allowed = orders;
    for (const resolve of waiting.splice(0)) resolve();
  },

  /** `callers` at once, each placing one order after the other, for `ms`. */
  async drive({ partners, callers, ms }) {
    const before = placed;
    const end = performance.now() + ms;
    const one = async () => {
      while (performance.now() < end) {
        await roomToPlace();
        await place(partners);
      }
    };
    await Promise.all(Array.from({ length: callers }, one));
    return placed - before;
  },

  /** `rate` orders a second for `ms`, whether or not the earlier ones are done. */
  async pace({ partners, rate, ms }) {
    const began = performance.now();
    const pending = [];
    for (let elapsed = 0; elapsed < ms;) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      elapsed = performance.now() - began;
      while (pending.length < (Math.min(elapsed, ms) * rate) / 1000) pending.push(place(partners));
    }
    await Promise.all(pending);
    return pending.length;
  },

  placed: () => placed,

  /** Answers that this process has applied, and all other outcomes. */
  counts() {
    const topics = Object.values(running.app.get(TRANSPORT)?.health().counts ?? {});
    const sum = (names) => topics.reduce((total, counts) => total + names.reduce((n, name) => n + counts[name], 0), 0);
    return { applied: sum(['applied']), others: sum(['duplicate', 'held', 'retry', 'dead']) };
  },
};

process.on('message', async ({ id, verb, argument }) => {
  try {
    process.send({ id, result: await verbs[verb](argument) });
  } catch (error) {
    process.send({ id, error: error.stack });
  }
});

async function stop() {
  await running?.lifecycle.stop('the benchmark is over');
  process.exit(0);
}
process.once('SIGTERM', stop);
process.once('disconnect', stop);
