// The gate for schemas: compares what the working tree says with every text that was ever released, in a real registry.
import { spawnSync } from 'node:child_process';
import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fail, ServerError, startRegistry } from './servers/index.mjs';

const HELP = `Compares the schemas of the working tree with all released ones (test/contract/released), in a real schema registry
that it starts and stops. Ends with 1 when one breaks a released one, or differs from the newest and is not released.

  node scripts/contracts-check.mjs
  node scripts/contracts-check.mjs --release     write what changed compatibly as the next released texts

Options
  --release          see above
  --dist DIR         a build to look at, in place of building the working tree
  --released DIR     where the released texts lie
  --help             this text
`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const node = ownNode();

const EXTENSIONS = { avro: 'avsc', protobuf: 'proto', 'json-schema': 'schema.json' };
const TYPES = { avro: 'AVRO', protobuf: 'PROTOBUF', 'json-schema': 'JSON' };

/** The build needs the project's own Node, whatever the machine has. */
function ownNode() {
  const own = join(root, 'node_modules', '.bin', 'node');
  if (Number(process.versions.node.split('.')[0]) >= 24 || !existsSync(own)) return process.execPath;
  const { status } = spawnSync(own, process.argv.slice(1), { stdio: 'inherit' });
  process.exit(status ?? 1);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        release: { type: 'boolean', default: false },
        dist: { type: 'string' },
        released: { type: 'string', default: join(root, 'test', 'contract', 'released') },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
}

/** The build to look at; the working tree's is made anew. */
function built(dist) {
  if (dist) return resolve(dist);
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new ServerError('The working tree does not build.', undefined, 'Run npm run build.');
  return join(root, 'dist');
}

/** The compiler prints JSON in a form of its own: there the content counts. */
const sameText = (format, one, other) =>
  one !== undefined &&
  (format === 'json-schema' ? JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other)) : one === other);

/** Each document in each of its formats, with what was released of it, oldest first; `sources`: where its texts are written. */
function documentsOf({ CONTRACTS, REGISTERED_FORMATS, schemaFileOf }, folder, sources) {
  return CONTRACTS.flatMap((contract) => {
    // A document that is always plain JSON is in no registry, and has its rules all the same.
    const formats = contract.format === undefined ? REGISTERED_FORMATS : ['json-schema'];
    return formats.map((format) => {
      const name = `${contract.name}.v${contract.version}`;
      const at = (n) => join(folder, name, `${n}.${EXTENSIONS[format]}`);
      const released = [];
      while (existsSync(at(released.length + 1))) released.push(readFileSync(at(released.length + 1), 'utf8'));
      const file = schemaFileOf(contract, format);
      const source = join(sources, basename(file));
      // A build keeps the copy of a file that is gone.
      if (!existsSync(source))
        throw new ServerError(`${name} has no ${format}.`, `${source} is not there.`, 'State it, as the others do.');
      return {
        contract,
        format,
        name,
        released,
        source,
        text: readFileSync(file, 'utf8'),
        next: at(released.length + 1),
      };
    });
  });
}

/** What a partner with this format finds registered: every released text, in its order. */
async function registerReleased(url, partner, documents, { subjectFor, topicFor }) {
  for (const { contract, format, released } of documents) {
    const subject = subjectFor(contract, topicFor(contract, partner));
    for (const schema of released) {
      const response = await fetch(`${url}/subjects/${encodeURIComponent(subject)}/versions`, {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        body: JSON.stringify({ schema, schemaType: TYPES[format] }),
      });
      if (!response.ok)
        throw new ServerError(
          `A released text of ${subject} is not registered.`,
          (await response.text()).slice(0, 500),
        );
    }
  }
}

/** Runs `parley contracts check` of that build; true without breaks. */
function checked(dist, url, partners, format) {
  const { status, stdout, stderr } = spawnSync(
    node,
    [
      join(dist, 'src', 'cli', 'main.js'),
      'contracts',
      'check',
      ...partners.flatMap((id) => ['--partner', id]),
      '--format',
      format,
    ],
    { env: { PATH: process.env.PATH, SCHEMA_REGISTRY_URLS: url }, encoding: 'utf8' },
  );
  process.stdout.write(stdout.replaceAll(/^/gm, `${format}: `).replace(/\S+: $/, ''));
  // Without a result it did not get as far as comparing; "not published" is said below, in this script's words.
  if (stdout === '') throw new ServerError(`parley contracts check ended with ${status}.`, stderr);
  return status === 0;
}

/** The documents that no registry holds, by the same judge. */
function judged(documents, { judgeSchemas }) {
  let fine = true;
  for (const { name, format, released, text } of documents) {
    released.forEach((older, n) => {
      for (const { place, rule, detail } of judgeSchemas(format, older, text)) {
        console.log(`json: ${name} version ${n + 1}: ${place}: ${rule}: ${detail}`);
        fine = false;
      }
    });
  }
  return fine;
}

async function compare(dist, documents, contracts, require) {
  let fine = true;
  for (const format of contracts.REGISTERED_FORMATS) {
    // One for each: the topic of our own systems, and with it their subjects, is the same whatever they speak.
    const registry = await startRegistry({ report: (text) => console.error(text) });
    try {
      const partner = `released-${format}`;
      const spoken = documents.filter((document) => document.format === format && !document.contract.format);
      await registerReleased(registry.url, partner, spoken, contracts);
      fine = checked(dist, registry.url, [partner, contracts.OWN_SYSTEMS], format) && fine;
    } finally {
      await registry.stop();
    }
  }
  const plain = documents.filter(({ contract }) => contract.format);
  return judged(plain, require(join(dist, 'src', 'messaging', 'evolution', 'index.js'))) && fine;
}

function expectStated(documents, folder) {
  const stated = new Set(documents.map(({ name }) => name));
  const gone = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => !stated.has(name));
  if (gone.length > 0)
    throw new ServerError(
      `${gone.join(', ')}: released, and no contract states it any more.`,
      'A partner may still send it, and old records hold it.',
      'Keep the contract. When nobody needs it, remove its folder of released texts in the same change.',
    );
}

function release(documents) {
  for (const { next, source } of documents) {
    mkdirSync(dirname(next), { recursive: true });
    copyFileSync(source, next, constants.COPYFILE_EXCL);
    console.log(`released ${basename(dirname(next))}/${basename(next)}`);
  }
}

async function main() {
  const options = readOptions();
  if (options.help) {
    console.log(HELP);
    return;
  }
  const dist = built(options.dist);
  const require = createRequire(import.meta.url);
  const contracts = require(join(dist, 'src', 'contracts', 'index.js'));
  const documents = documentsOf(contracts, options.released, join(options.dist ? dist : root, 'src', 'contracts'));
  expectStated(documents, options.released);
  if (!(await compare(dist, documents, contracts, require)))
    throw new ServerError(
      'A schema breaks a released one.',
      'Each place is named above, with its rule.',
      'Undo the change, or state it as a new version of the contract (CONTRIBUTING.md, "Changing a contract").',
    );
  const changed = documents.filter(({ format, released, text }) => !sameText(format, released.at(-1), text));
  if (options.release) release(changed);
  else if (changed.length > 0)
    throw new ServerError(
      `Not released: ${changed.map(({ name, format }) => `${name} (${format})`).join(', ')}.`,
      'It differs from the newest released text, and breaks none.',
      'Run node scripts/contracts-check.mjs --release and commit what it writes.',
    );
}

await main().catch(fail);
