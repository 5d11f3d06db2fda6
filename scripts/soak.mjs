import { parseArgs } from 'node:util';
import { Client } from './demo/client.mjs';
import { showVerdict } from './demo/report.mjs';
import { System } from './demo/system.mjs';
import { bold, dim, done, elapsed, event, green, progress, red, say, title } from './demo/terminal.mjs';
import { ServerError } from './servers/index.mjs';
import { accountInbound, accountOutbound, differences } from './soak/account.mjs';
import { troubleProviders } from './soak/fates.mjs';
import { gather, withDatabase } from './soak/gather.mjs';
import { Load, MANNERS, PARTNERS } from './soak/load.mjs';
import { Poison } from './soak/poison.mjs';
import { showLedger, showTold } from './soak/report.mjs';
import { untilQuiet } from './soak/quiet.mjs';
import { accountTold } from './soak/told.mjs';
import { makeTrouble } from './soak/trouble.mjs';

const HELP = `A long run of Parley on servers of its own, in which about 1 % of what partners write fails at first and 0.1 % can never be
applied, people and systems are told of it through providers that fail at times, and the broker and the database are killed and
started again. At its end every message of both directions and every notification is accounted for.

  npm run soak
  npm run soak -- --seconds 60

Options
  --seconds N   how long orders are placed (default 600); faults fall at a quarter, at half and at three quarters of it
  --rate N      orders a second (default 20)
  --help        this text

Exit code 1: something is lost, repeated, out of order or unaccounted for; the report names it.
`;

function readOptions() {
  const options = {
    seconds: { type: 'string', default: '600' },
    rate: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  };
  try {
    const { values } = parseArgs({ options });
    for (const name of ['seconds', 'rate']) {
      if (!/^[1-9]\d{0,4}$/.test(values[name])) {
        throw new Error(`--${name} must be a whole number from 1 to 99999, not "${values[name]}".`);
      }
    }
    return { ...values, seconds: Number(values.seconds), rate: Number(values.rate) };
  } catch (error) {
    console.error(`${error.message} See npm run soak -- --help.`);
    process.exit(2);
  }
}

async function start(system) {
  title('Starting');
  await system.startServers((text) => say(`  … ${text}`));
  // A held lock makes statements fail within the run.
  system.env.DATABASE_STATEMENT_TIMEOUT_MS = '1500';
  await system.parley('migrate');
  await system.addPartners();
  system.startPartners(MANNERS);
  system.startParley();
  system.startNotifier();
  await system.makeKey();
  await Promise.all([system.parleyReady(), system.partnersReady(), system.notifierReady()]);
  await system.people.register(system, system.key);
  done(`Parley serves ${system.apiUrl}; ${PARTNERS.length} partners read and answer ${dim(`(${elapsed()})`)}`);
}

async function soak(system, { seconds, rate }) {
  title(`${rate} orders a second for ${seconds} s`);
  const client = new Client(system.apiUrl, system.key);
  const load = new Load(client, { seconds, rate });
  const poison = new Poison(system, load);
  const fates = troubleProviders(system.people);
  const show = progress();
  const watch = setInterval(() => show(`accepted ${load.accepted.size}   poison written ${poison.written.size}`), 500);
  try {
    await Promise.all([load.run(), poison.run(seconds), makeTrouble(system, seconds, event)]);
  } finally {
    clearInterval(watch);
    await poison.close();
  }
  done(`${load.accepted.size} orders accepted, ${client.retries} requests repeated under their Idempotency-Key`);
  const rest = await untilQuiet(system, show);
  if (rest) say(red(`  Not everything came to its end: ${rest}`));
  return { client, load, poison, fates };
}

/** Prints the ledger; true when every message is accounted for. */
async function account(system, { client, load, poison, fates }) {
  title('The ledger');
  const kinds = await system.kinds();
  const { seen, told } = await withDatabase(system, async (database) => ({
    seen: await gather(system, database, poison.written),
    told: await accountTold(system, database, kinds),
  }));
  const outbound = accountOutbound(seen.outbound);
  const inbound = accountInbound(seen.inbound);
  showLedger(outbound, inbound);
  showTold(told);
  say(dim(`  refused for now by a provider: ${fates.refused}   kept by one that never said so: ${fates.unanswered}`));
  const faults = differences({ outbound, inbound, told, orders: seen.orders, accepted: load.accepted });
  const timelines = await client.timelines([...load.accepted]);
  const isOrdered = showVerdict(load.compare(system.journal, timelines), load.accepted.size);
  for (const fault of faults.slice(0, 20)) say(red(`    ${fault}`));
  if (faults.length > 20) say(red(`    … and ${faults.length - 20} more`));
  return isOrdered && faults.length === 0;
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(HELP);
  const system = new System(PARTNERS);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => void system.stop().then(() => process.exit(130)));
  }
  let isFine = false;
  try {
    await start(system);
    isFine = await account(system, await soak(system, options));
    say(
      isFine
        ? bold(green(`\nEvery message and every notification is accounted for (${elapsed()}).`))
        : bold(red('\nFaults found, see above.')),
    );
  } catch (error) {
    say(red(error instanceof ServerError ? error.message : (error.stack ?? String(error))));
  }
  await system.stop({ keepFolder: !isFine && system.app !== undefined });
  if (!isFine && system.app) say(`Logs are in ${system.folder}.`);
  process.exit(isFine ? 0 : 1);
}

await main();
