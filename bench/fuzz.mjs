import { parseArgs } from 'node:util';
import { fuzz } from './fuzz/fuzzer.mjs';
import { targetsOf } from './fuzz/targets.mjs';
import { load } from './parley.mjs';

const HELP = `Feeds all decoders with random and mutated bytes until the time is over or one of them fails.

  npm run build && node bench/fuzz.mjs --seconds 60

Options
  --seconds N   how long (default 60)
  --cases N     stop after so many, if that is earlier
  --seed N      where to begin (default: the time); the same seed gives the same cases
`;

const { values } = parseArgs({
  options: {
    ...{ seconds: { type: 'string', default: '60' }, cases: { type: 'string' } },
    ...{ seed: { type: 'string' } },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const room = '../dist/src/messaging/registry';
const { Malformed, SchemaMismatch } = load(`${room}/malformed.js`);
const internals = {
  ...load(`${room}/avro-schema.js`),
  ...load(`${room}/avro-reader.js`),
  ...load(`${room}/byte-cursor.js`),
  ...load(`${room}/protobuf-names.js`),
  faults: [Malformed, SchemaMismatch],
};
const modules = {
  contracts: load('../dist/src/contracts/index.js'),
  registry: load(`${room}/index.js`),
  avsc: load('avsc'),
};
const targets = await targetsOf({ ...modules, internals });

const seed = values.seed === undefined ? Date.now() >>> 0 : Number(values.seed);
const until = performance.now() + Number(values.seconds) * 1000;
let left = values.cases === undefined ? Infinity : Number(values.cases);
const total = { cases: 0, outcomes: {}, slowestMs: 0, mostMemory: 0 };
/** In parts, so that memory is looked at, and a line says how far it is. */
const PART = 50_000;
for (let part = 0; left > 0 && performance.now() < until; part++) {
  const result = await fuzz({ targets, seed: seed + part, cases: Math.min(PART, left), ms: until - performance.now() });
  left -= result.done;
  total.cases += result.done;
  total.slowestMs = Math.max(total.slowestMs, result.slowestMs);
  total.mostMemory = Math.max(total.mostMemory, process.memoryUsage().rss);
  for (const [name, count] of Object.entries(result.outcomes))
    total.outcomes[name] = (total.outcomes[name] ?? 0) + count;
  if (result.fault) {
    console.error(
      `Seed ${seed + part}, case ${result.done}: ${result.fault.target}: ${result.fault.why}\n${result.fault.bytes}`,
    );
    process.exit(1);
  }
}
console.log(`${total.cases.toLocaleString('en')} cases from seed ${seed}, no fault.`);
console.log(`Slowest ${total.slowestMs.toFixed(1)} ms, at most ${Math.round(total.mostMemory / 2 ** 20)} MB resident.`);
console.log(
  Object.entries(total.outcomes)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count.toLocaleString('en')}`)
    .join(', '),
);
process.exit(0);
