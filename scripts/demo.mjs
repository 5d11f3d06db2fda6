import { parseArgs } from 'node:util';
import { Client } from './demo/client.mjs';
import { beginFailures, FAILURE_RULES, failurePart } from './demo/failures.mjs';
import { showAccount } from './demo/ledger.mjs';
import { beginNotifications, notificationPart } from './demo/notifications.mjs';
import { orderNumbered, PARTNERS } from './demo/orders.mjs';
import { showVerdict } from './demo/report.mjs';
import { Ledger, quietPart, troublePart } from './demo/series.mjs';
import { beginStories, STORY_RULES, storyPart } from './demo/stories.mjs';
import { System } from './demo/system.mjs';
import { bold, dim, done, elapsed, green, red, say, title } from './demo/terminal.mjs';
import { ServerError } from './servers/index.mjs';

const HELP = `The whole of Parley on real parts: PostgreSQL, Kafka, a schema registry, Parley, and three partners that
speak only Kafka: one in Avro, one in Protobuf, one in JSON with schemas. Kafka is guarded: TLS, an account for everybody,
nothing without a right. Orders that go well; what fails and how people mend it from the command line; who is told of it by
e-mail, SMS and signed webhook, also when the sender is killed between sending and writing so; and all of it again while the
broker and Parley are killed.

  npm run demo
  npm run demo -- --keep
  npm run demo -- --orders 20 --trouble-orders 60

Options
  --orders N           orders of the quiet part (default 100)
  --trouble-orders N   orders of the part in which the broker and Parley are killed (default 300; 0: without it)
  --keep               stay up afterwards and print URLs, commands and a curl line to try
  --help               this text
`;
const ANSWERS = 'accept=4,slow=2,reject=1,change=1,duplicate=1,ship-early=1';
const MANNERS = [
  ...[...STORY_RULES, ...FAILURE_RULES, '--rule', 'GOODS-*=ship=2,over-ship,ship-early'],
  ...['--rule', `TROUBLE-*=${ANSWERS},garbage=1`],
  ...['--behaviour', `${ANSWERS},ship=2,over-ship=1`, '--cancellation', 'agree=2,refuse'],
  ...['--slow-ms', '500', '--ship-ms', '2500'],
];

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

/** Returns what was registered. */
async function startEverything(system) {
  title('Starting');
  await system.startServers((text) => say(`  … ${text}`));
  const { postgres, kafka, registry } = system;
  done(`PostgreSQL on port ${postgres.port}, Kafka on ${kafka.brokers} ${dim(`(${elapsed()})`)}`);
  done(`schema registry on ${registry.url}`);
  await system.parley('migrate');
  done('schema migrated');
  await Promise.all([system.addPartners(), system.addCompany(), system.makeKey(), system.makeSupportKey()]);
  const schemas = await system.schemas();
  const names = system.partners.map(({ id, format }) => `${id} (${format})`).join(', ');
  done(
    `parley partner onboard: ${names}, and the company’s own systems, each with topics, an account, rights and limits ${dim(`(${elapsed()})`)}`,
  );
  const { subject, version, id } = schemas.find((schema) => schema.subject.startsWith('orders.'));
  done(`${schemas.length} schemas registered`);
  say(dim(`    such as ${subject}, version ${version}, id ${id}`));
  await showGuard(system);
  system.startPartners(MANNERS);
  system.startParley();
  system.startNotifier();
  await Promise.all([system.parleyReady(), system.partnersReady(), system.notifierReady()]);
  done(
    `Parley serves ${system.apiUrl}, a process of its own sends notifications; the partners read and answer ${dim(`(${elapsed()})`)}`,
  );
  await system.people.register(system, system.supportKey.token);
  done('parley notifications receivers set: purchasing is told by e-mail, the warehouse by webhook');
  done(`API key of an administrator, for this demo only: ${system.key}`);
  return schemas;
}

/** Who may what at the broker; throws when a partner may read what is another's. */
async function showGuard({ access, partners: [acme, globex] }) {
  done('the broker asks everybody for TLS and an account (SCRAM-SHA-512), and refuses what no ACL allows, Parley too');
  const topic = `orders.${acme.id}.request.v1`;
  const refusal = await access.refusal(globex.id, topic);
  if (refusal === undefined) throw new Error(`${globex.id} may read ${topic}.`);
  done(`${globex.id} tries to read ${topic} with its own account: ${refusal}`);
}

async function stayUp(system) {
  title('It stays up until Ctrl-C');
  say(`  API     ${system.apiUrl}/v1/orders   documentation ${system.apiUrl}/docs`);
  say(
    `  probes  ${system.managementUrl}/readyz?verbose   of who sends notifications: ${system.notifierUrl}/readyz?verbose`,
  );
  const { DATABASE_URL, KAFKA_BROKERS, KAFKA_CA_FILE, SCHEMA_REGISTRY_URLS } = system.env;
  say(`  servers DATABASE_URL=${DATABASE_URL} KAFKA_BROKERS=${KAFKA_BROKERS}`);
  say(`          SCHEMA_REGISTRY_URLS=${SCHEMA_REGISTRY_URLS} KAFKA_CA_FILE=${KAFKA_CA_FILE}`);
  say(`          accounts of the partners at the broker: ${system.access.accountsFile}`);
  say(`  logs    ${system.folder}`);
  const body = JSON.stringify({ ...orderNumbered('MINE', 0), orderNumber: undefined });
  say(`\n  export PARLEY_URL=${system.apiUrl} PARLEY_API_KEY=${system.key}`);
  say('  npm run --silent parley -- dead-letters list --groups --state all');
  say('  npm run --silent parley -- orders show FAIL-comma');
  say('  npm run --silent parley -- notifications list');
  say(`\n  curl -s ${system.apiUrl}/v1/orders -H 'authorization: Bearer ${system.key}' \\`);
  say(`       -H 'content-type: application/json' -H "idempotency-key: $RANDOM$RANDOM" \\`);
  say(`       -d '${body}'\n`);
  await new Promise(() => setInterval(() => undefined, 60_000));
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(HELP);
  const system = new System(PARTNERS);
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
    const schemas = await startEverything(system);
    const client = new Client(system.apiUrl, system.key);
    const ledger = new Ledger();
    const story = await beginStories(system, client);
    const failures = await beginFailures(system, client, schemas);
    const results = [await quietPart(system, client, ledger, options.orders, schemas), await storyPart(story, ledger)];
    const notifications = await beginNotifications(system, client, schemas);
    results.push(await failurePart(failures, ledger));
    results.push(await notificationPart(notifications));
    if (options.trouble > 0) results.push(await troublePart(system, client, ledger, options.trouble));
    title('All of it together');
    results.push(showVerdict(ledger.compare(system.journal), ledger.accepted.size));
    results.push(await showAccount(system, ledger.accepted));
    const isFine = results.every(Boolean);
    say(
      isFine
        ? bold(
            green(
              `\nNothing lost, nothing repeated, nothing out of order, every message accounted for (${elapsed()}).`,
            ),
          )
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
