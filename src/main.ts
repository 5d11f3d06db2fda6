import './platform/node-version';
import 'reflect-metadata';
import { ConfigError, loadConfig } from './platform/config';
import { AppError, messageOf } from './platform/errors';
import { leaveOnFault, stopOnSignals } from './platform/lifecycle';
import { createLogger } from './platform/telemetry';
import { start } from './start';

/** Starts the roles named in ROLES; ends with 1 and all faults at once when the environment is wrong. */
async function main(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config.logLevel, config.instanceId);
  leaveOnFault(log);
  const running = await start(config, log);
  stopOnSignals(running.lifecycle, log, config.shutdownTimeoutMs);
  await running.started.catch((error: unknown) => {
    // Stopped while it waited for the database: the stop goes on and ends the process.
    if (!running.lifecycle.signal.aborted) throw error;
  });
}

main().catch((error: unknown) => {
  const hint = error instanceof AppError && error.hint ? ` ${error.hint}` : '';
  process.stderr.write(
    error instanceof ConfigError ? `${error.message}\n` : `parley: cannot start: ${messageOf(error)}${hint}\n`,
  );
  process.exit(1);
});
