// The role notifier alone, made and stopped as the program makes and stops it. It starts in a third of the time: tests kill it by the dozen.
const { DataSource } = require('typeorm');
const { createNotifier } = require('../../../dist/src/notifications/sending/create-notifier');
const { Notifications } = require('../../../dist/src/notifications/notifications');
const { systemClock } = require('../../../dist/src/platform/clock');
const { loadConfig } = require('../../../dist/src/platform/config');
const { Database, dataSourceOptions } = require('../../../dist/src/platform/database');
const { createLogger } = require('../../../dist/src/platform/telemetry');

async function main() {
  const config = loadConfig();
  const log = createLogger(config.logLevel, config.instanceId);
  const source = await new DataSource(dataSourceOptions(config, {})).initialize();
  const database = new Database(source);
  const observer = { settled: () => undefined, lapsed: () => undefined };
  const notifications = new Notifications(database);
  const notifier = createNotifier({ config, database, notifications, clock: systemClock, log, observer });
  notifier.start();
  process.once('SIGTERM', () => {
    void notifier
      .stop()
      .then(() => source.destroy())
      .then(() => process.exit(0));
  });
  process.stdout.write('ready\n');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
