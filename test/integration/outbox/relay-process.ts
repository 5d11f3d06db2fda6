import { pino } from 'pino';
import { createLanePublisher, type LaneBatch, type LanePublisher } from '../../../src/messaging/kafka';
import { createRelay } from '../../../src/messaging/outbox';
import { loadConfig } from '../../../src/platform/config';

/**
 * A relay alone in a process. Environment: DATABASE_URL, KAFKA_BROKERS, INSTANCE_ID; LEASE_MS; KILL_AFTER_SENDS: ends by SIGKILL
 * when that many batches are acknowledged, before anyone hears of the last one.
 */
const config = loadConfig();
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });
const kafka = createLanePublisher(config, logger, 'relay');
let left = Number(process.env['KILL_AFTER_SENDS'] ?? Number.POSITIVE_INFINITY);

const publisher: LanePublisher = {
  leaderOf: (topic, partition) => kafka.leaderOf(topic, partition),
  close: () => kafka.close(),
  send: async (batch: LaneBatch) => {
    const receipt = await kafka.send(batch);
    if (--left <= 0) process.kill(process.pid, 'SIGKILL');
    return receipt;
  },
};

const relay = createRelay({
  database: { connection: config.databaseUrl },
  publisher,
  quarantine: () => createLanePublisher(config, logger, 'relay-quarantine'),
  source: '/parley/test',
  instance: config.instanceId,
  log: logger,
  leaseMs: Number(process.env['LEASE_MS'] ?? 1000),
});
relay.start();
process.on('SIGTERM', () => void relay.stop().then(() => publisher.close()));
