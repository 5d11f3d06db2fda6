import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { typeOf } from '../../../src/contracts';
import { ChannelCatalog } from '../../../src/messaging/channels';
import { createTransport, type InboundBatch, type Outcome } from '../../../src/messaging/consumer';
import { createBatchSource, createKafkaAdmin, createLanePublisher } from '../../../src/messaging/kafka';
import { JsonCodec } from '../../../src/messaging/registry';
import { loadConfig } from '../../../src/platform/config';
import { Database, dataSourceOptions } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { KEEPS_ERRORS } from '../../../src/messaging/consumer/contract-handler';
import { handler } from './harness';
import { type Step, STEP } from './records';

/**
 * A consumer process whose handler does what the document says: `exit`, `exhaust` (memory), `spin`. Environment: that of Parley.
 * Prints `joined` when it reads.
 */
async function main(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.logLevel, config.instanceId);
  const dataSource = await new DataSource(dataSourceOptions(config, {})).initialize();
  const database = new Database(dataSource);
  const channels = new ChannelCatalog(database);
  const admin = createKafkaAdmin(config);
  const transport = createTransport({
    ...{ config, database, channels, codec: new JsonCodec(), logger, contracts: [STEP] },
    protect: { config, admin, openPublisher: () => createLanePublisher(config, logger, 'dead-letters') },
    makeSource: (topics, onBatch) =>
      createBatchSource(config, logger, {
        ...{ groupId: config.kafkaConsumerGroup, topics, onBatch },
        timing: { sessionTimeout: config.kafkaSessionTimeoutMs, heartbeat: 500, maxWait: 100 },
        onFatal: () => process.exit(1),
      }),
  });
  const apply = handler((message) => void misbehave(message.value));
  transport.addHandler(typeOf(STEP), (batch: InboundBatch<unknown>): Promise<Outcome[]> => apply(STEP, batch), true, {
    [KEEPS_ERRORS]: true,
  });
  transport.listen((error) => {
    if (error) throw error as Error;
  });
  process.on('SIGTERM', () => {
    void transport.close().then(() => process.exit(0));
  });
  while (transport.health().state !== 'joined') await delay(50);
  process.stdout.write('joined\n');
}

function misbehave({ poison }: Step): void {
  if (poison === 'exit') process.exit(3);
  if (poison === 'spin') for (;;);
  if (poison === 'exhaust') {
    const held: number[][] = [];
    for (;;) held.push(Array.from({ length: 1e5 }, (_, index) => index));
  }
}

void main();
