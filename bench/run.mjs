import { existsSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { disturbance } from './measure.mjs';
import { judge, machine, table, writeJson } from './report.mjs';

const BENCHMARKS = [
  'reference',
  'service',
  'http',
  'drain',
  'pages',
  'consumer',
  'failing',
  'replay',
  'codecs',
  'end-to-end',
  'notifications',
  'latency',
];

/** More of the machine than this in others' hands makes a number worthless; the kernel's own work for us counts as others'. */
const QUIET = 0.1;

const HELP = `Measures Parley on this machine, on embedded durable servers. Nothing else should run meanwhile.

  npm run bench
  npm run bench -- --only drain,consumer --quick

Options
  --only LIST     of ${BENCHMARKS.join(', ')}
  --quick         small and short: shows that it works, its numbers say little
  --json FILE     where the result goes (default: bench/results/<time>.json)
  --profile DIR   processes of Parley write CPU profiles there
  --help          this text
`;

function usage(text) {
  console.error(`${text}\n\n${HELP}`);
  process.exit(2);
}

function readOptions() {
  const options = {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  };
  let values;
  try {
    values = parseArgs({ options }).values;
  } catch (error) {
    usage(error.message);
  }
  const only = values.only?.split(',').map((name) => name.trim()) ?? BENCHMARKS;
  const unknown = only.filter((name) => !BENCHMARKS.includes(name));
  if (unknown.length > 0) usage(`There is no benchmark ${unknown.join(', ')}.`);
  return { ...values, only };
}

/** The wanted ones in the order of the list, with those whose results they are measured against. */
async function selected(only) {
  const modules = new Map();
  for (const name of BENCHMARKS) modules.set(name, await import(`./${name}.mjs`));
  const needed = new Set(only.flatMap((name) => [name, ...(modules.get(name).needs ?? [])]));
  return BENCHMARKS.filter((name) => needed.has(name)).map((name) => [name, modules.get(name)]);
}

async function main() {
  const options = readOptions();
  if (options.help) return console.log(HELP);
  if (!existsSync(fileURLToPath(new URL('../dist/src/main.js', import.meta.url)))) {
    usage('There is no dist/: run "npm run build" first, or "npm run bench", which does.');
  }
  if (options.profile) {
    mkdirSync(options.profile, { recursive: true });
    process.env.BENCH_PROFILE = resolve(options.profile);
  }
  const { startServers } = await import('./servers.mjs');
  const began = new Date();
  const result = { began, quick: options.quick, machine: machine(), benchmarks: {} };
  const benchmarks = await selected(options.only);
  const servers = await startServers((text) => console.error(text));
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void servers.stop().finally(() => process.exit(130)));
  }
  // The servers don't keep this process alive.
  const alive = setInterval(() => undefined, 60_000);
  const context = { servers, quick: options.quick, reference: {} };
  try {
    for (const [name, benchmark] of benchmarks) {
      const rows = [];
      console.error(`${name} ...`);
      const others = disturbance();
      await benchmark.run({ ...context, report: (row) => rows.push(judge(row)) });
      const takenByOthers = others();
      result.benchmarks[name] = { title: benchmark.title, takenByOthers, rows };
      console.log(table(benchmark.title, rows));
      if (takenByOthers > QUIET) {
        console.log(
          `Other programs took ${Math.round(takenByOthers * 100)} % of the machine: these numbers are too low.\n`,
        );
      }
    }
  } finally {
    clearInterval(alive);
    await servers.stop();
  }
  result.seconds = Math.round((Date.now() - began.getTime()) / 1000);
  const file =
    options.json ??
    fileURLToPath(new URL(`results/${began.toISOString().replaceAll(/[:.]/g, '-')}.json`, import.meta.url));
  writeJson(file, result);
  const rows = Object.values(result.benchmarks).flatMap((benchmark) => benchmark.rows);
  const short = rows.filter((row) => row.verdict === 'short');
  console.log(`${rows.length} numbers in ${result.seconds} s, ${short.length} short of their aim. ${file}`);
}

await main();
process.exit(0);
