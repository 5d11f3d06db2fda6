import { pino } from 'pino';
import { createLanePublisher, type LaneBatch, type LanePublisher } from '../../../src/messaging/kafka';
import { createRelay, type RelayOptions } from '../../../src/messaging/outbox';
import { loadConfig } from '../../../src/platform/config';

/**
 * A relay alone in a process. Environment: DATABASE_URL, KAFKA_BROKERS, INSTANCE_ID; LEASE_MS; PARKING: its times, as JSON; KILL_AFTER_SENDS: ends by SIGKILL
 * when that many batches are acknowledged, before anyone hears of the last one.
 */
const config = loadConfig();
const logger = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });
let left = Number(process.env['KILL_AFTER_SENDS'] ?? Number.POSITIVE_INFINITY);

const killing = (kafka: LanePublisher): LanePublisher => ({
  leaderOf: (topic, partition) => kafka.leaderOf(topic, partition),
  close: () => kafka.close(),
  send: async (batch: LaneBatch) => {
    const receipt = await kafka.send(batch);
    if (--left <= 0) process.kill(process.pid, 'SIGKILL');
    return receipt;
  },
});
const publisher = killing(createLanePublisher(config, logger, 'relay'));

const relay = createRelay({
  database: { connection: config.databaseUrl },
  publisher,
  quarantine: () => killing(createLanePublisher(config, logger, 'relay-quarantine')),
  source: '/parley/test',
  instance: config.instanceId,
  log: logger,
  leaseMs: Number(process.env['LEASE_MS'] ?? 1000),
  parking: JSON.parse(process.env['PARKING'] ?? '{}') as RelayOptions['parking'],
});
relay.start();
process.on('SIGTERM', () => void relay.stop().then(() => publisher.close()));
