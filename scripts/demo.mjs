import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, inParallel } from './demo/client.mjs';
import { compare, readJournal } from './demo/compare.mjs';
import { orderNumbered } from './demo/orders.mjs';
import { showPlaces, showStates, showStory, showVerdict } from './demo/report.mjs';
import { System } from './demo/system.mjs';
import { bold, dim, done, elapsed, event, green, progress, red, say, title } from './demo/terminal.mjs';
import { watchSeries } from './demo/watch.mjs';
import { ServerError } from './servers/index.mjs';

const HELP = `The whole of Parley on real parts: PostgreSQL, Kafka, Parley, and a partner that speaks only Kafka.

  npm run demo
  npm run demo -- --keep
  npm run demo -- --orders 20 --trouble-orders 60

Options
  --orders N           orders of the quiet part (default 100)
  --trouble-orders N   orders of the part in which the broker and Parley are killed (default 300; 0: without it)
  --keep               stay up afterwards and print URLs and a curl line to try
  --help               this text
`;
const PARTNER = 'acme';
const PARTITIONS = 6;
const TOPIC = `orders.${PARTNER}.request.v1`;
const BEHAVIOUR = 'accept=5,slow=2,reject=1,change=1,duplicate=1';

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        orders: { type: 'string', default: '100' },
        'trouble-orders': { type: 'string', default: '300' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const count = (name, least) => {
      if (/^\d{1,5}$/.test(values[name]) && +values[name] >= least) return Number(values[name]);
      throw new Error(`--${name} must be a whole number from ${least} to 99999, not "${values[name]}".`);
    };
    return { ...values, orders: count('orders', 1), trouble: count('trouble-orders', 0) };
  } catch (error) {
    console.error(`${error.message} See npm run demo -- --help.`);
    process.exit(2);
  }
}

async function startEverything(system) {
  title('Starting');
  await system.startServers((text) => say(`  … ${text}`));
  done(`PostgreSQL on port ${system.postgres.port}, Kafka on ${system.kafka.brokers} ${dim(`(${elapsed()})`)}`);
  await system.parley('migrate');
  done('schema migrated');
  await system.parley('partner', 'add', PARTNER, '--name', 'Acme Ltd', '--partitions', String(PARTITIONS));
  done(`partner ${PARTNER} added, with its topics`);
  system.startPartner(PARTNER, BEHAVIOUR);
  system.startParley();
  await Promise.all([system.parleyReady(), system.partnerReady()]);
  done(`Parley serves ${system.apiUrl}; the partner reads and answers ${dim(`(${elapsed()})`)}`);
}

/** Places a series of orders, `perSecond` of them, and watches until all are answered. Returns their timelines. */
async function runSeries({ system, client, series, total, perSecond, meanwhile, gate }) {
  const accepted = new Set();
  const begun = Date.now();
  const placing = inParallel(Array(total).keys(), 16, async (index) => {
    await delay(Math.max(0, begun + (index * 1000) / perSecond - Date.now()));
    await gate?.(index);
    const order = orderNumbered(series, index, PARTNER);
    await client.place(order);
    accepted.add(order.orderNumber);
  });
  const show = progress();
  const watch = { system, client, series, total, accepted, show, topic: TOPIC, partitions: PARTITIONS };
  await Promise.all([placing, watchSeries(watch), meanwhile?.(accepted)]);
  done(`${total} orders accepted, published, answered ${dim(`(${((Date.now() - begun) / 1000).toFixed(1)} s)`)}`);
  const timelines = await client.timelines([...accepted]);
  const ofSeries = (line) => line.order?.startsWith(`${series}-`);
  return { accepted, timelines, verdict: compare(accepted, readJournal(system.journal).filter(ofSeries), timelines) };
}

async function quietPart(system, client, total) {
  title(`${total} orders through the REST API`);
  const { accepted, timelines, verdict } = await runSeries({ system, client, series: 'QUIET', total, perSecond: 200 });
  showPlaces(timelines);
  showStates(timelines);
  const isFine = showVerdict(verdict, accepted.size);
  title('The story of one order');
  // One that was acknowledged first has the longest.
  const stories = [...timelines.values()];
  showStory(stories.find(({ steps }) => steps.some(({ step }) => step === 'acknowledged')) ?? stories[0]);
  return isFine;
}

async function troublePart(system, client, total) {
  title(`${total} orders while the broker and Parley are killed`);
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
  const run = { system, client, series: 'TROUBLE', total, perSecond: 50, meanwhile: trouble, gate };
  const { accepted, timelines, verdict } = await runSeries(run);
  showStates(timelines);
  say(
    dim(`  the client repeated ${client.retries - before} requests that got no answer, under the same Idempotency-Key`),
  );
  return showVerdict(verdict, accepted.size);
}

async function stayUp(system) {
  title('It stays up until Ctrl-C');
  say(`  API     ${system.apiUrl}/v1/orders   documentation ${system.apiUrl}/docs`);
  say(`  probes  ${system.managementUrl}/readyz?verbose`);
  say(`  servers DATABASE_URL=${system.env.DATABASE_URL} KAFKA_BROKERS=${system.env.KAFKA_BROKERS}`);
  say(`  logs    ${system.folder}`);
  const body = JSON.stringify({ ...orderNumbered('MINE', 0, PARTNER), orderNumber: undefined });
  say(
    `\n  curl -s ${system.apiUrl}/v1/orders -H 'content-type: application/json' -H "idempotency-key: $RANDOM$RANDOM" \\`,
  );
  say(`       -d '${body}'\n`);
  await new Promise(() => setInterval(() => undefined, 60_000));
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(HELP);
  const system = new System();
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (stopping) process.exit(130);
      stopping = true;
      say(dim('stopping …'));
      void system.stop().then(() => process.exit(options.keep ? 0 : 130));
    });
  }
  try {
    await startEverything(system);
    const client = new Client(system.apiUrl);
    const results = [await quietPart(system, client, options.orders)];
    if (options.trouble > 0) results.push(await troublePart(system, client, options.trouble));
    const isFine = results.every(Boolean);
    say(
      isFine
        ? bold(green(`\nNothing lost, nothing repeated, nothing out of order (${elapsed()}).`))
        : bold(red('\nFaults found, see above.')),
    );
    if (options.keep) await stayUp(system);
    await system.stop({ keepFolder: !isFine });
    process.exit(isFine ? 0 : 1);
  } catch (error) {
    if (stopping) return;
    say(red(error instanceof ServerError ? error.message : (error.stack ?? String(error))));
    const hasLogs = system.app !== undefined;
    await system.stop({ keepFolder: hasLogs });
    if (hasLogs) say(`Logs are in ${system.folder}.`);
    process.exit(1);
  }
}

await main();
