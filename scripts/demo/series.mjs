import { setTimeout as delay } from 'node:timers/promises';
import { inParallel } from './client.mjs';
import { byOrder, compare, readJournal } from './compare.mjs';
import { isSettled } from './expectation.mjs';
import { orderNumbered } from './orders.mjs';
import { dim, done, event, progress, say, title } from './terminal.mjs';
import { isTold, showPlaces, showStates, showStory, showVerdict } from './report.mjs';
import { eventually } from './story.mjs';
import { watchSeries } from './watch.mjs';

/** In the series with trouble, of so many orders one is cancelled again as soon as it is accepted. */
const CANCEL_EVERY = 6;

/** What was done so far, for the comparison over everything. */
export class Ledger {
  accepted = new Set();
  asked = new Set();
  timelines = new Map();

  add({ accepted, asked, timelines }) {
    for (const order of accepted) this.accepted.add(order);
    for (const order of asked) this.asked.add(order);
    for (const [order, timeline] of timelines) this.timelines.set(order, timeline);
  }

  /** Of the orders of `series`, or of all. */
  compare(journalFile, series) {
    const isOurs = (order) => series === undefined || order?.startsWith(`${series}-`);
    const journal = readJournal(journalFile).filter(({ order }) => order !== undefined && isOurs(order));
    return compare([...this.accepted].filter(isOurs), journal, this.timelines, [...this.asked].filter(isOurs));
  }
}

/** Orders that are accepted when the trouble begins, and whose goods leave while it lasts. */
const GOODS = 24;

/** Places a series of orders, `perSecond` of them, and watches until all have come to their end. */
async function runSeries({ system, client, ledger, series, total, perSecond, cancelEvery = 0, meanwhile, gate }) {
  const run = { accepted: new Set(), asked: new Set(), ended: false };
  const begun = Date.now();
  const place = async (index) => {
    await delay(Math.max(0, begun + (index * 1000) / perSecond - Date.now()));
    await gate?.(index);
    const { orderNumber } = await client.place(orderNumbered(series, index));
    run.accepted.add(orderNumber);
    if (cancelEvery === 0 || index % cancelEvery > 0) return;
    if (await client.cancel(orderNumber, 'The customer changed its mind.')) run.asked.add(orderNumber);
  };
  const placing = inParallel(Array(total).keys(), 16, place).then(() => (run.ended = true));
  const watching = watchSeries({ system, client, series, total, run, show: progress() });
  const [allSettled] = await Promise.all([watching, placing, meanwhile?.(run.accepted)]);
  if (allSettled)
    done(`${total} orders accepted, published, answered ${dim(`(${((Date.now() - begun) / 1000).toFixed(1)} s)`)}`);
  const timelines = await client.timelines([...run.accepted]);
  ledger.add({ ...run, timelines });
  const showAll = () => showVerdict(ledger.compare(system.journal, series), run.accepted.size) && allSettled;
  return { timelines, showAll };
}

export async function quietPart(system, client, ledger, total, schemas) {
  title(`${total} orders through the REST API, to ${system.partners.length} partners`);
  const { timelines, showAll } = await runSeries({
    ...{ system, client, ledger, series: 'QUIET', total, perSecond: 200 },
  });
  showPlaces(system.partners, timelines, schemas);
  showStates(timelines);
  const isFine = showAll();
  title('The story of one order');
  // One that was acknowledged first, and of which somebody is told, has the longest.
  const stories = [...timelines.values()];
  const has = (...wanted) => stories.find(({ steps }) => wanted.every((is) => steps.some(is)));
  const isAcknowledged = ({ step }) => step === 'acknowledged';
  const { orderNumber } = has(isAcknowledged, isTold) ?? has(isAcknowledged) ?? stories[0];
  showStory(await untilTold(client, orderNumber));
  return isFine;
}

/** An order's timeline when everybody was told of it. */
function untilTold(client, orderNumber) {
  return eventually(`Telling of ${orderNumber}`, async () => {
    const timeline = await client.timeline(orderNumber);
    return !timeline.steps.some(({ step }) => step === 'notification-waiting') && timeline;
  });
}

/** Places the orders with goods, and returns when all are accepted by their partners; `settled` tells at their end whether all came to it. */
async function placeGoods(system, client, ledger) {
  const accepted = new Set();
  await inParallel(Array(GOODS).keys(), 8, async (index) => {
    accepted.add((await client.place(orderNumbered('GOODS', index))).orderNumber);
  });
  const ofGoods = async () => [...((await client.orders()) ?? [])].filter(([number]) => accepted.has(number));
  const within90s = async (condition) => {
    for (const deadline = Date.now() + 90_000; !(await condition()); await delay(100)) {
      if (Date.now() > deadline) return false;
    }
    return true;
  };
  const isAccepted = await within90s(async () => {
    const orders = await ofGoods();
    return orders.length === GOODS && orders.every(([, { state }]) => state !== 'placed');
  });
  if (!isAccepted) throw new Error('Not all orders with goods were accepted within 90 s.');
  const settled = async () => {
    const allSettled = await within90s(async () => {
      const [orders, lines] = [await ofGoods(), byOrder(readJournal(system.journal))];
      return orders.length === GOODS && orders.every(([number, order]) => isSettled(order, lines.get(number) ?? []));
    });
    ledger.add({ accepted, asked: [], timelines: await client.timelines([...accepted]) });
    return allSettled;
  };
  return { settled };
}

export async function troublePart(system, client, ledger, total) {
  title(`${total} orders, some cancelled at once, while the broker and Parley are killed`);
  const goods = await placeGoods(system, client, ledger);
  done(`${GOODS} orders before them are accepted; their goods leave meanwhile`);
  const after = async (accepted, share) => {
    while (accepted.size < Math.floor(total * share)) await delay(20);
  };
  const brokerBack = Promise.withResolvers();
  const trouble = async (accepted) => {
    await after(accepted, 0.2);
    event('the broker is killed (SIGKILL); orders are accepted all the while');
    await system.kafka.kill();
    await delay(1500);
    event('the broker is started again');
    await system.kafka.restart();
    event('the broker is back');
    brokerBack.resolve();
    await after(accepted, 0.7);
    event('Parley is killed (SIGKILL)');
    await system.killParley();
    await delay(500);
    event('Parley is started again');
    system.startParley();
    await system.parleyReady();
    event('Parley is back, its consumer has joined');
  };
  // The last orders wait for the broker, so that Parley too is killed while orders come in.
  const gate = (index) => (index < total * 0.6 ? undefined : brokerBack.promise);
  const before = client.retries;
  const run = { ...{ system, client, ledger, series: 'TROUBLE', total, perSecond: 50 }, meanwhile: trouble, gate };
  const { timelines, showAll } = await runSeries({ ...run, cancelEvery: CANCEL_EVERY });
  const areGoodsFine = await goods.settled();
  showStates(timelines);
  const retries = client.retries - before;
  say(dim(`  the client repeated ${retries} requests that got no answer, under the same Idempotency-Key`));
  const isFine = showAll();
  return showVerdict(ledger.compare(system.journal, 'GOODS'), GOODS) && areGoodsFine && isFine;
}
