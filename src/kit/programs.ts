import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { CONTRACTS, isInternal, REGISTERED_FORMATS, schemaFileOf } from '../contracts';
import { NonRetriableError } from '../platform/errors';
import { tarballOf } from './tarball';
import { textOf } from './templates';

/** The part of `package.json` that the partner's package is made from. */
interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

/** One package with the programs that a partner runs: what their entry requires, and nothing else of ours. */
export interface ProgramPackage {
  /** Name of the archive. */
  file: string;
  content: Buffer;
  manifest: { name: string; version: string; engines: { node: string }; dependencies: Record<string, string> };
  /** Paths within the package. */
  files: string[];
}

const NAME = 'parley-partner';
const ENTRY = 'simulator/main.js';

/** @param installation where Parley is installed: its `package.json` and `dist` */
export function programPackage(installation: string): ProgramPackage {
  const compiled = join(installation, 'dist', 'src');
  const { version, dependencies } = JSON.parse(readFileSync(join(installation, 'package.json'), 'utf8')) as Manifest;
  const { files, packages } = requiredBy(join(compiled, ENTRY));
  const manifest = {
    name: NAME,
    version,
    description: "The simulated company, the simulated partner and the certification, for a partner's developers",
    private: true,
    license: 'UNLICENSED',
    bin: { [NAME]: `bin/${NAME}.cjs` },
    engines: { node: '>=24.11' },
    dependencies: Object.fromEntries([...packages].sort().map((name) => [name, versionOf(name, dependencies)])),
  };
  const content = new Map<string, Buffer>([
    ['package.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)],
    [`bin/${NAME}.cjs`, Buffer.from(textOf(`package/bin/${NAME}.cjs`))],
  ]);
  for (const file of [...files, ...schemaFiles(compiled)]) {
    content.set(`src/${relative(compiled, file).replaceAll(sep, '/')}`, readFileSync(file));
  }
  return {
    file: `${NAME}-${version}.tgz`,
    content: tarballOf(new Map([...content].map(([name, bytes]) => [`package/${name}`, bytes]))),
    manifest,
    files: [...content.keys()].sort(),
  };
}

/** Where every version is pinned. */
function versionOf(name: string, dependencies: Readonly<Record<string, string>>): string {
  const version = dependencies[name];
  if (version !== undefined) return version;
  throw new NonRetriableError(
    'kit-incomplete',
    `The partner's programs need ${name}, which package.json does not name.`,
  );
}

/** Schemas in their own languages are read, not required; those of our own systems are none of a partner's. */
const schemaFiles = (compiled: string): string[] =>
  CONTRACTS.filter((contract) => !isInternal(contract))
    .flatMap((contract) => REGISTERED_FORMATS.map((format) => schemaFileOf(contract, format)))
    .map((file) => join(compiled, 'contracts', relative(dirname(file), file)))
    .filter(existsSync);

/** What compiled files require, from the entry on: ours as paths, packages by name. */
function requiredBy(entry: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!file.endsWith('.js')) continue;
    for (const [, name = ''] of compiledText(file).matchAll(/\b(?:require|import)\("([^"]+)"\)/g)) {
      if (name.startsWith('.')) waiting.push(fileOf(join(dirname(file), name)));
      else if (!name.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    }
  }
  return { files, packages };
}

const fileOf = (path: string): string => [`${path}.js`, join(path, 'index.js')].find(existsSync) ?? path;

function compiledText(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new NonRetriableError(
    'kit-incomplete',
    `${file} is not there: the programs of the kit are the compiled ones.`,
    {
      hint: 'Run "npm run build".',
    },
  );
}
