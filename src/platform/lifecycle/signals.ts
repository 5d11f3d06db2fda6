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
