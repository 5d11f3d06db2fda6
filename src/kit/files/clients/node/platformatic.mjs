// @platformatic/kafka for {{account}}. Try it: PARTNER_PASSWORD=… node clients/node/platformatic.mjs{{byPassword}}
// @platformatic/kafka for {{account}}, with partner.pem and partner.key. Try it: node clients/node/platformatic.mjs{{byCertificate}}
// In the sandbox also: PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byPassword}}
// In the sandbox, by password: PARTNER_PASSWORD=… PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byCertificate}}
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { compatibilityPartitioner, Consumer, FetchIsolationLevels, Producer } from '@platformatic/kafka';

const authority = process.env.PARTNER_CA ?? 'ca.pem';
const username = process.env.PARTNER_USERNAME ?? '{{username}}';
// Without a file the public authorities count.
const trusted = existsSync(authority) ? { ca: readFileSync(authority) } : {};
// {{#byCertificate}}
const certificate = () => ({
  cert: readFileSync(process.env.PARTNER_CERT ?? 'partner.pem'),
  key: readFileSync(process.env.PARTNER_KEY ?? 'partner.key'),
});
// {{/byCertificate}}
const login = { mechanism: 'SCRAM-SHA-512', username, password: process.env.PARTNER_PASSWORD ?? '' };

export const connection = {
  clientId: username,
  bootstrapBrokers: (process.env.PARTNER_BROKERS ?? '{{bootstrap}}').split(','),
  tls: trusted,
  // {{#byPassword}}
  sasl: login,
  // {{/byPassword}}
  // {{#byCertificate}}
  // Who names an account comes by password, as in the sandbox; otherwise the certificate says who you are.
  ...(username ? { sasl: login } : { clientId: '{{accountText}}', tls: { ...trusted, ...certificate() } }),
  // {{/byCertificate}}
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
