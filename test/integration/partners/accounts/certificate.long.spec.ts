import { readFileSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';
import { orderRequest, topicFor } from '../../../../src/contracts';
import { eventually } from '../../../support/eventually';
import { NEVER_KILLED, startGuardedKafka } from '../../../support/guarded-kafka';
import { produce, uniqueName } from '../../../support/kafka';
import { admin, answerTopic, asAccount, type Bench, givePartner, rotated, startBench } from './harness';

type Guarded = Awaited<ReturnType<typeof startGuardedKafka>>;
let kafka: Guarded;
let bench: Bench;

beforeAll(async () => {
  kafka = await startGuardedKafka({ mtls: true, extraProperties: NEVER_KILLED });
  bench = await startBench(kafka);
});
afterAll(async () => {
  await bench?.close();
  await kafka?.stop();
});

/** A partner's client whose certificate bears the name. The listener's rule makes the bare name of `CN=<name>`: so it stands in the file, too. */
async function certified(name: string): Promise<Kafka> {
  const files = await kafka.issueClient?.(name);
  const [cert, key] = [readFileSync(files?.certFile ?? '', 'utf8'), readFileSync(files?.keyFile ?? '', 'utf8')];
  return new Kafka({
    ...{ clientId: name, brokers: [kafka.mtlsBrokers ?? ''], connectionTimeout: 30_000 },
    ssl: { ca: [readFileSync(kafka.caFile, 'utf8')], cert, key },
    ...{ logLevel: logLevel.NOTHING, retry: { retries: 0 } },
  });
}

async function write(client: Kafka, topic: string): Promise<true> {
  const producer = client.producer({ allowAutoTopicCreation: false, retry: { retries: 0 } });
  await producer.connect();
  try {
    await producer.send({ topic, acks: -1, messages: [{ partition: 0, value: 'by certificate' }] });
    return true;
  } finally {
    await producer.disconnect();
  }
}

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
const REFUSED = /not authorized|authorization failed|does not host|not present/i;
/** The controller answers before the broker goes by what it said. */
const expectRefused = (client: Kafka, topic: string): Promise<boolean> =>
  eventually(async () => REFUSED.test(await refusalOf(write(client, topic))), { what: `${topic} is refused` });

/** The first value of the topic, as a group of the partner reads it. */
async function firstRead(client: Kafka, topic: string, groupId: string): Promise<string> {
  const consumer = client.consumer({ groupId, retry: { retries: 5 } });
  const read = Promise.withResolvers<string>();
  consumer.on(consumer.events.CRASH, ({ payload }) => read.reject(payload.error));
  read.promise.catch(() => undefined);
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({ eachMessage: async ({ message }) => read.resolve(String(message.value)) });
    return await read.promise;
  } finally {
    await consumer.disconnect();
  }
}

describe('a partner that comes by its certificate', () => {
  it('writes and reads its own topics and no others, until it is disabled or retired', async () => {
    const [subject, next] = [uniqueName('acme-erp'), uniqueName('acme-erp')] as const;
    const theirs = await givePartner(bench);
    const { partner, username } = await givePartner(bench, { authentication: { type: 'tls', subject } });
    expect(username).toBe(subject);
    const [client, stranger] = [await certified(subject), await certified(uniqueName('stranger'))];
    const topic = answerTopic(partner);

    await eventually(() => write(client, topic), { what: 'it writes' });
    const orders = topicFor(orderRequest, partner);
    await produce(orders, [{ value: 'an order' }], asAccount(bench, kafka.admin));
    // The first group of a broker makes the topic that keeps offsets: until that is led, there is no coordinator.
    expect(await eventually(() => firstRead(client, orders, `partner.${partner}.erp`))).toBe('an order');
    await expectRefused(client, answerTopic(theirs.partner));
    await expectRefused(client, orders);
    await expectRefused(stranger, topic);

    await bench.disabling.disable(partner, subject, admin);
    await expectRefused(client, topic);
    await bench.disabling.enable(partner, subject, admin);
    await eventually(() => write(client, topic), { what: 'it writes again' });

    await rotated(bench, { partner, subject: next });
    const second = await certified(next);
    for (const one of [client, second]) await eventually(() => write(one, topic), { what: 'both write' });
    await bench.retirement.retire(partner, subject, admin);
    await expectRefused(client, topic);
    await write(second, topic);
  });
});
