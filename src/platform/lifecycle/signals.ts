import { messageOf } from '../errors';
import type { Logger } from '../telemetry';
import type { Lifecycle } from './lifecycle';

/**
 * SIGTERM and SIGINT begin an orderly stop that ends the process with 0; a second signal, or `timeoutMs` without an end,
 * ends it at once with 1 (work that was not finished is picked up by the next start: nothing depends on an orderly end).
 */
export function stopOnSignals(lifecycle: Lifecycle, log: Logger, timeoutMs: number): void {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (++signals > 1) {
      log.warn({ signal }, 'second signal: leaving at once');
      process.exit(1);
    }
    setTimeout(() => {
      log.error({ timeout_ms: timeoutMs }, 'the stop took too long: leaving now');
      process.exit(1);
    }, timeoutMs).unref();
    void lifecycle.stop(signal).then(() => process.exit(0));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/**
 * An error that nobody handles, also one of a promise, ends the process with 1 and one line in the log. Node's own report would
 * print the error with all its fields, and those of a database error are the parameters of its statement: documents.
 */
export function leaveOnFault(log: Logger): void {
  process.on('uncaughtException', (error: unknown, origin) => {
    const stack = error instanceof Error ? error.stack : undefined;
    log.fatal(
      { code: 'unhandled-error', origin, reason: messageOf(error), stack },
      'an error that nobody handled: leaving now',
    );
    process.exit(1);
  });
}
