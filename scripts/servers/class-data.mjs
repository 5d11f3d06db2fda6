import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from './folders.mjs';

/**
 * A class-data archive halves the start of a Java server. It belongs to one build of Java. `record(file)` runs a server
 * that writes it; where that fails the server starts without, only slower.
 */
export async function classDataArchive(home, java, record) {
  const target = join(home, `classes-${java.id}.jsa`);
  if (existsSync(target)) return target;
  try {
    return await makeOnce(target, record);
  } catch (error) {
    if (process.env.PARLEY_DEBUG) console.error(error);
    rmSync(target, { force: true });
    return undefined;
  }
}

/** The flags of a Java that starts quickly and stays small. `load`: the full compiler, for a server under load or TLS. */
export const javaFlags = ({ heapMb, archive, load = false }) => [
  `-Xmx${heapMb}m`,
  '-XX:+UseSerialGC',
  ...(load ? [] : ['-XX:TieredStopAtLevel=1']),
  ...(archive ? [`-XX:SharedArchiveFile=${archive}`, '-Xshare:auto'] : []),
];
