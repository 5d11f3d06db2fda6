import type { SingleKafka } from '../../../../scripts/servers/index.mjs';
import { startRegistry } from '../../../../scripts/servers/index.mjs';
import {
  errorReport,
  type Format,
  FORMATS,
  type NotificationRequest,
  notificationRequest,
  OWN_SYSTEMS,
  topicFor,
  typeOf,
} from '../../../../src/contracts';
import { createCodec, createSchemaRegistry } from '../../../../src/messaging/registry';
import { Database } from '../../../../src/platform/database';
import { createLogger } from '../../../../src/platform/telemetry';
import { type Running, start } from '../../../../src/start';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { eventually } from '../../../support/eventually';
import { atEnd, ownKafka } from '../../../support/faults';
import { deleteTopic, produce, uniqueName } from '../../../support/kafka';
import { onboard } from '../../../support/partners';
import { aRequest } from './requests-world';

const TOPIC = topicFor(notificationRequest, OWN_SYSTEMS);
const ALL_TOPICS = [TOPIC, `${TOPIC}-dlt`, topicFor(errorReport, OWN_SYSTEMS)];
const SOON = { timeout: 60_000, what: 'it is made' };

let kafka: SingleKafka;
let running: Running | undefined;
// Its topic has one name: with any other spec's it would be shared.
beforeAll(async () => {
  kafka = await ownKafka();
});

async function stop(): Promise<void> {
  await running?.lifecycle.stop('test');
  running = undefined;
}
afterEach(stop);

async function registryFor(format: Format): Promise<string> {
  if (format === 'json') return '';
  const registry = await startRegistry();
  atEnd(() => registry.stop());
  return registry.url;
}

/** Writes a request as a system of ours does: several records of it, by their ids. */
async function ask(format: Format, registry: string, value: NotificationRequest, ...ids: string[]): Promise<void> {
  const client = registry === '' ? undefined : createSchemaRegistry({ schemaRegistryUrls: [registry] });
  try {
    const { payload } = await createCodec(client).encode(notificationRequest, { topic: TOPIC, format }, value);
    const headers = { ce_specversion: '1.0', ce_source: '/shop', ce_type: typeOf(notificationRequest) };
    const records = ids.map((id) => ({
      key: value.notificationId,
      value: payload,
      headers: { ...headers, ce_id: id },
    }));
    await produce(TOPIC, records, kafka.brokers);
  } finally {
    await client?.close();
  }
}

const counts = (database: Database) =>
  database.query<{ made: string; dead: string }>(
    `SELECT (SELECT string_agg(event_id, ' ' ORDER BY event_id) FROM notification) AS made, (SELECT count(*) FROM parked_inbound) AS dead`,
  );

it.each(FORMATS)(
  'our own systems ask in %s; what is read again, also by a process that begins anew, is told once',
  async (format) => {
    const registry = await registryFor(format);
    const url = await freshDatabase();
    const env = () => ({
      ...{ KAFKA_BROKERS: kafka.brokers, KAFKA_CONSUMER_GROUP: uniqueName('parley') },
      ...(registry === '' ? {} : { SCHEMA_REGISTRY_URLS: registry }),
    });
    const begin = async () => {
      const config = testConfig(url, { ...env(), ROLES: 'consumer' });
      running = await start(config, createLogger('silent', 'test'));
      await running.started;
      return running.app.get(Database);
    };
    const database = await begin();
    await onboard(database, testConfig(url, env()), { partner: OWN_SYSTEMS, format, partitions: 1 });
    const value = aRequest('first', { receiver: undefined, channel: 'sms', address: '+4915112345678' });
    await ask(format, registry, value, 'a', 'b', 'a');
    await eventually(async () => (await counts(database))[0]?.made === 'request/first', SOON);
    await stop();
    // Of another group: it reads all of the topic anew.
    const again = await begin();
    await ask(format, registry, { ...value, notificationId: 'second' }, 'c');
    await eventually(async () => (await counts(again))[0]?.made === 'request/first request/second', SOON);
    expect(await counts(again)).toEqual([{ made: 'request/first request/second', dead: '0' }]);
    await stop();
    for (const topic of ALL_TOPICS) await deleteTopic(topic, kafka.brokers);
  },
  180_000,
);
