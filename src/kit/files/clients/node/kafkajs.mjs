// kafkajs for {{account}}. Try it: PARTNER_PASSWORD=… node clients/node/kafkajs.mjs{{byPassword}}
// kafkajs for {{account}}, with partner.pem and partner.key. Try it: node clients/node/kafkajs.mjs{{byCertificate}}
// In the sandbox also: PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byPassword}}
// In the sandbox, by password: PARTNER_PASSWORD=… PARTNER_BROKERS=localhost:9092 PARTNER_CA=sandbox/ca.pem PARTNER_USERNAME={{sandboxAccount}}{{byCertificate}}
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Kafka, Partitioners } from 'kafkajs';

const authority = process.env.PARTNER_CA ?? 'ca.pem';
const username = process.env.PARTNER_USERNAME ?? '{{username}}';
// Without a file the public authorities count.
const trusted = existsSync(authority) ? { ca: [readFileSync(authority)] } : {};
// {{#byCertificate}}
const certificate = () => ({
  cert: readFileSync(process.env.PARTNER_CERT ?? 'partner.pem'),
  key: readFileSync(process.env.PARTNER_KEY ?? 'partner.key'),
});
// {{/byCertificate}}
const login = { mechanism: 'scram-sha-512', username, password: process.env.PARTNER_PASSWORD ?? '' };

export const kafka = new Kafka({
  clientId: username,
  brokers: (process.env.PARTNER_BROKERS ?? '{{bootstrap}}').split(','),
  ssl: trusted,
  // {{#byPassword}}
  sasl: login,
  // {{/byPassword}}
  // {{#byCertificate}}
  // Who names an account comes by password, as in the sandbox; otherwise the certificate says who you are.
  ...(username ? { sasl: login } : { clientId: '{{accountText}}', ssl: { ...trusted, ...certificate() } }),
  // {{/byCertificate}}
  // Its default of a second is too short for TLS and SCRAM.
  connectionTimeout: 10_000,
});

export const makeProducer = () =>
  kafka.producer({
    idempotent: true,
    // Its default makes a topic that is missing.
    allowAutoTopicCreation: false,
    // murmur2, as in Java: all records of an order stand in one partition.
    createPartitioner: Partitioners.DefaultPartitioner,
  });

/** One topic-partition a send, one send at a time: only then does what it resolves with hold. */
export const send = (producer, topic, message) => producer.send({ topic, acks: -1, messages: [message] });

export const makeConsumer = (groupId = '{{group}}') =>
  kafka.consumer({ groupId, allowAutoTopicCreation: false, readUncommitted: false });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const consumer = makeConsumer();
  await consumer.connect();
  await consumer.subscribe({ topics: ['{{requestTopic}}'], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ topic, partition, message }) => {
      console.log(message.key?.toString(), message.headers?.ce_type?.toString(), message.value?.length, 'bytes');
      // Behind your own transaction; the number is that of the next record.
      await consumer.commitOffsets([{ topic, partition, offset: (BigInt(message.offset) + 1n).toString() }]);
    },
  });
  process.once('SIGINT', () => consumer.disconnect());
}
