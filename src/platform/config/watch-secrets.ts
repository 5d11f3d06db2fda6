import { sleep } from '../polling';
import type { Logger } from '../telemetry';
import type { Config } from './keys';
import { secretFilesOf } from './load-config';

const LOOK_MS = 5000;

/** Says in the log when a secret's file changes, can't be used any more, and can be again; each once. Ends with the signal. */
export async function watchSecrets(config: Config, log: Logger, signal: AbortSignal, lookMs = LOOK_MS): Promise<void> {
  const known = secretFilesOf(config).map((file) => ({ file, value: file.value, trouble: file.trouble }));
  while (known.length > 0 && !signal.aborted) {
    await sleep(lookMs, signal);
    for (const one of known) {
      const { value, trouble, env } = one.file;
      if (trouble !== undefined && trouble !== one.trouble)
        log.error(
          { code: 'secret-unreadable', secret: env, reason: `${env}_FILE ${trouble}` },
          'the file of a secret cannot be used; its last good value stays in use',
        );
      else if (trouble === undefined && value !== one.value)
        log.info({ secret: env }, 'a secret was read anew; new connections use it');
      else if (trouble === undefined && one.trouble !== undefined)
        log.info({ secret: env }, 'the file of a secret can be used again');
      [one.value, one.trouble] = [value, trouble];
    }
  }
}
