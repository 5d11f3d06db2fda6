import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Parley's folder in the user's cache: survives node_modules, shared by all clones. */
export function cacheFolder(...parts) {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'parley', ...parts);
}

/** A new folder for a server's data, removed when the server stops. */
export function temporaryFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `parley-${name}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * Makes `target` once, also when several processes try at the same time: each makes its own beside it, and the first
 * rename wins. A maker that fails or is killed leaves no half-made target.
 */
export async function makeOnce(target, make) {
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const own = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  try {
    const made = join(own, 'made');
    await make(made);
    try {
      renameSync(made, target);
    } catch (error) {
      if (!existsSync(target)) throw error;
    }
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return target;
}
