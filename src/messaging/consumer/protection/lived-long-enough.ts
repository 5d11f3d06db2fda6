import { uptime } from 'node:process';
import { sleep } from '../../../platform/polling';

/** So long a process must have lived before one of its ends counts, ms: what can't even start is no record's fault. */
const LIVED_MS = 1_000;

/** Resolves when an end of this process may be laid to what it has in hand. */
export async function livedLongEnough(): Promise<void> {
  const young = LIVED_MS - uptime() * 1_000;
  if (young > 0) await sleep(young);
}
