import { closedLoop, cpuMeter, median } from './measure.mjs';
import { anOrder } from './orders.mjs';
import { load, makeDatabase, startHere } from './parley.mjs';
import { dropDatabase, settle } from './servers.mjs';

export const title = 'Orders accepted by the service API (in the process of the callers)';
export const needs = ['reference'];

const { OrderService } = load('../dist/src/orders/index.js');
const AIM = 0.75;
/** From here on the group commit has something to group; what fewer get is shown beside it. */
const MANY = 64;

/** Five rows an order in one transaction: order, event, exchange, idempotency key, outbox message. */
export async function run({ servers, quick, report, reference }) {
  const partners = await makeDatabase(servers, 'service');
  const parley = await startHere(servers, 'service', { ROLES: 'api' });
  const service = parley.app.get(OrderService);
  const place = (n) => service.place(anOrder(partners[n % partners.length]));
  try {
    await closedLoop({ callers: 64, ms: quick ? 1000 : 4000, work: place });
    for (const callers of [1, 8, 16, 64, 256]) {
      const rates = [];
      const cpu = cpuMeter({ postgres: servers.postgres.pid, parley: process.pid });
      let orders = 0;
      for (let round = 0; round < (quick ? 1 : 3); round++) {
        const { calls, perSecond } = await closedLoop({ callers, ms: quick ? 1000 : 3000, work: place });
        rates.push(perSecond);
        orders += calls;
      }
      const spent = cpu();
      report({
        name: `${callers} callers`,
        value: median(rates),
        unit: 'orders/s',
        ...(callers === 1
          ? { ratio: median(rates) / reference.alone, ratioTo: 'the reference with 1 client' }
          : {
              ratio: median(rates) / reference.tps,
              ratioTo: 'the reference',
              ...(callers >= MANY ? { aim: AIM } : {}),
            }),
        note: `CPU ms an order: PostgreSQL ${(spent.postgres / orders).toFixed(3)}, Parley ${(spent.parley / orders).toFixed(3)}`,
      });
    }
  } finally {
    await parley.stop();
  }
  await dropDatabase(servers, 'service');
  await settle(servers);
}
