// @platformatic/kafka for {{account}}. Try it: PARTNER_PASSWORD=… node clients/node/platformatic.mjs
// In the sandbox also: PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { compatibilityPartitioner, Consumer, FetchIsolationLevels, Producer } from '@platformatic/kafka';

const authority = process.env.PARTNER_CA ?? 'ca.pem';
const username = process.env.PARTNER_USERNAME ?? '{{account}}';

export const connection = {
  clientId: username,
  bootstrapBrokers: (process.env.PARTNER_BROKERS ?? '{{bootstrap}}').split(','),
  // Without a file the public authorities count.
  tls: existsSync(authority) ? { ca: readFileSync(authority) } : {},
  sasl: { mechanism: 'SCRAM-SHA-512', username, password: process.env.PARTNER_PASSWORD ?? '' },
};

export const makeProducer = () =>
  new Producer({
    ...connection,
    idempotent: true,
    acks: -1,
    autocreateTopics: false,
    // murmur2, as in Java: all records of an order stand in one partition.
    partitioner: compatibilityPartitioner,
  });

const text = (bytes) => bytes?.toString();

export const makeConsumer = (groupId = '{{group}}') =>
  new Consumer({
    ...connection,
    groupId,
    autocommit: false,
    isolationLevel: FetchIsolationLevels.READ_COMMITTED,
    // Without these, names of headers are bytes, too, and nothing is found by one.
    deserializers: { key: text, headerKey: text, headerValue: text },
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const consumer = makeConsumer();
  const stream = await consumer.consume({ topics: ['{{requestTopic}}'], mode: 'committed', fallbackMode: 'earliest' });
  process.once('SIGINT', () => void stream.close().then(() => consumer.close()));
  for await (const message of stream) {
    console.log(message.key, message.headers.get('ce_type'), message.value?.length, 'bytes');
    // Behind your own transaction.
    await message.commit();
  }
}
