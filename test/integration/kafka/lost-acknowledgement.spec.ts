import { freePort, startKafka } from '../../../scripts/servers/index.mjs';
import { createLanePublisher } from '../../../src/messaging/kafka';
import { Kafka, logLevel } from '../../../src/messaging/kafka/kafkajs';
import { readAll } from '../../support/kafka';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { closeAll, closing, createTopic, quiet, records, settingsFor, stopping } from './fixtures';

/** A broker that its clients reach through a wire which can lose the answer to a produce request. */
async function startForgetfulBroker() {
  const port = await freePort();
  const proxy = closing(await startTcpProxy({ port }));
  const listeners = await startKafka({
    port,
    extraProperties: { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${proxy.port}` },
  });
  stopping(listeners);
  return { brokers: proxy.address, forgetting: forgetting(proxy) };
}

const isProduce = (data: Buffer) => data.length > 6 && data.readInt16BE(4) === 0;

/** While on, the broker gets produce requests and does them, and the connection breaks before its answer arrives. */
const forgetting = (proxy: TcpProxy) => (on: boolean) => {
  let asked = false;
  proxy.filter(
    on
      ? (data, direction) => {
          if (direction === 'request') asked = isProduce(data);
          else if (asked) {
            proxy.cutAll();
            return null;
          }
          return data;
        }
      : undefined,
  );
};

let kafka: Awaited<ReturnType<typeof startForgetfulBroker>>;

beforeAll(async () => {
  kafka = await startForgetfulBroker();
});
afterAll(closeAll);
afterEach(() => kafka.forgetting(false));

const values = async (topic: string) => (await readAll(topic, kafka.brokers)).map(({ value }) => String(value));

describe('after an acknowledgement was lost', () => {
  it('the raw client swallows the next batch of the same size', async () => {
    const topic = await createTopic('swallowed', { brokers: kafka.brokers });
    const raw = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: () => () => 0,
      retry: { retries: 1, initialRetryTime: 50 },
    });
    await raw.connect();
    const send = (stem: string) => raw.send({ topic, acks: -1, messages: records(stem, 5) });
    try {
      await send('warm');
      kafka.forgetting(true);
      await expect(send('A')).rejects.toThrow();
      kafka.forgetting(false);
      await expect(send('B')).resolves.toMatchObject([{ errorCode: 0 }]);
    } finally {
      await raw.disconnect();
    }
    // Acknowledged, and nowhere: if this ever fails, the client got better and the publisher may become simpler.
    expect((await values(topic)).filter((value) => value.startsWith('B'))).toEqual([]);
  });

  it('the publisher reports the outcome as unknown and writes the next batches, whatever their size', async () => {
    const topic = await createTopic('kept', { brokers: kafka.brokers });
    const lanes = closing(createLanePublisher(settingsFor(kafka.brokers), quiet, 'test'));
    const send = (stem: string, count: number) => lanes.send({ topic, partition: 0, records: records(stem, count) });
    await send('warm', 5);
    kafka.forgetting(true);
    await expect(send('A', 5)).rejects.toMatchObject({ code: 'broker-unreachable', outcome: 'unknown' });
    kafka.forgetting(false);
    // A caller may park A and go on with another batch of the same size: the one that the raw client swallows.
    await send('B', 5);
    await send('A', 5);
    await send('C', 3);
    const written = await values(topic);
    const firsts = [...new Set(written)];
    const expected = [['warm', 5] as const, ['A', 5] as const, ['B', 5] as const, ['C', 3] as const];
    expect(firsts).toEqual(expected.flatMap(([stem, count]) => records(stem, count).map(({ key }) => key)));
  });

  it('sends of other lanes that were under way finish or fail as unknown, and nothing is lost or reordered', async () => {
    const lanes = closing(createLanePublisher(settingsFor(kafka.brokers), quiet, 'test'));
    const topic = await createTopic('lanes', { partitions: 6, brokers: kafka.brokers });
    const until = Date.now() + 4_000;
    const trouble = setInterval(() => {
      kafka.forgetting(true);
      setTimeout(() => kafka.forgetting(false), 400);
    }, 700);
    const outcomes = new Set<string>();
    const sent = await Promise.all(
      Array.from({ length: 6 }, async (_, partition) => {
        let count = 0;
        // Until one of them was hit, however slow the machine.
        for (; Date.now() < until || !outcomes.has('unknown'); count++) {
          for (;;) {
            try {
              await lanes.send({ topic, partition, records: records(`${partition}:${count}:`, 4) });
              break;
            } catch (error) {
              outcomes.add((error as { outcome: string }).outcome);
            }
          }
        }
        return count;
      }),
    );
    clearInterval(trouble);
    const all = await readAll(topic, kafka.brokers);
    for (const [partition, count] of sent.entries()) {
      const seen = all.filter((record) => record.partition === partition).map(({ value }) => String(value));
      const wanted = Array.from({ length: count }, (_, n) =>
        records(`${partition}:${n}:`, 4).map(({ key }) => key),
      ).flat();
      expect([...new Set(seen)]).toEqual(wanted);
    }
  });
});
