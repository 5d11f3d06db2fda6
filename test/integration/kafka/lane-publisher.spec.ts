import { createServer } from 'node:net';
import { createLanePublisher, PublishError } from '../../../src/messaging/kafka';
import { Kafka, logLevel } from '../../../src/messaging/kafka/kafkajs';
import { deleteTopic, readAll, uniqueName, withAdmin } from '../../support/kafka';
import { closeAll, closing, createTopic, quiet, records, settingsFor } from './fixtures';

const publisher = (brokers?: string) => closing(createLanePublisher(settingsFor(brokers), quiet, 'test'));

const failureOf = async (work: Promise<unknown>): Promise<PublishError> => {
  const result = await work.then(
    (value: unknown) => new Error(`resolved: ${String(value)}`),
    (error: unknown) => error,
  );
  if (result instanceof PublishError) return result;
  throw result;
};

afterEach(closeAll);

describe('a lane publisher', () => {
  it('writes key, value, headers and timestamp byte for byte and says where', async () => {
    const topic = await createTopic('bytes', { partitions: 3 });
    const value = Buffer.from([0, 1, 2, 255, 254]);
    const headers = { 'content-type': 'application/json', ce_id: 'ä€😀', raw: Buffer.from([0, 255]), empty: '' };
    const batch = [
      { key: 'PO-1', value, headers, timestamp: '1700000000123' },
      { key: 'PO-1', value: null, headers: {}, timestamp: '1700000000123' },
      { key: null, value: Buffer.alloc(0), headers: {}, timestamp: '1700000000999' },
    ];
    const lanes = publisher();
    const first = await lanes.send({ topic, partition: 2, records: batch });
    const second = await lanes.send({ topic, partition: 2, records: batch });
    expect([first, second]).toEqual([
      { topic, partition: 2, baseOffset: 0n },
      { topic, partition: 2, baseOffset: 3n },
    ]);
    const [written, tombstone, keyless] = await readAll(topic);
    expect(written).toMatchObject({ partition: 2, offset: 0n, timestamp: 1700000000123n, value });
    expect(written?.key?.toString()).toBe('PO-1');
    expect(Object.entries(written?.headers ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes ?? '')])).toEqual(
      Object.entries(headers).map(([name, bytes]) => [name, Buffer.from(bytes)]),
    );
    expect(tombstone).toMatchObject({ value: null, timestamp: 1700000000123n });
    expect(keyless).toMatchObject({ key: null, value: Buffer.alloc(0), timestamp: 1700000000999n });
  });

  it('gives 20 sends at once to 20 partitions distinct places, and loses none', async () => {
    const topic = await createTopic('twenty', { partitions: 20 });
    const lanes = publisher();
    for (let round = 0; round < 3; round++) {
      const receipts = await Promise.all(
        Array.from({ length: 20 }, (_, partition) =>
          lanes.send({ topic, partition, records: records(`r${round}p${partition}-`, 7) }),
        ),
      );
      expect(receipts.map(({ baseOffset }) => baseOffset)).toEqual(Array<bigint>(20).fill(BigInt(round * 7)));
    }
    const all = await readAll(topic);
    expect(new Set(all.map(({ value }) => String(value))).size).toBe(420);
    expect(all).toHaveLength(420);
  });

  it('refuses a second send to a partition while one is outstanding', async () => {
    const topic = await createTopic('busy');
    const lanes = publisher();
    const first = lanes.send({ topic, partition: 0, records: records('a', 1) });
    const second = await failureOf(lanes.send({ topic, partition: 0, records: records('b', 1) }));
    expect(second).toMatchObject({ code: 'lane-busy', outcome: 'refused' });
    await first;
    await lanes.send({ topic, partition: 0, records: records('c', 1) });
    expect((await readAll(topic)).map(({ value }) => String(value))).toEqual(['a0', 'c0']);
  });

  it('rejects a partition that does not exist, where the raw client resolves with nothing', async () => {
    const topic = await createTopic('partitions', { partitions: 2 });
    const raw = new Kafka({ brokers: settingsFor().kafkaBrokers, logLevel: logLevel.NOTHING }).producer({
      createPartitioner: () => () => 9,
    });
    await raw.connect();
    const said = await raw.send({ topic, messages: [{ value: 'gone', partition: 9 }] });
    await raw.disconnect();
    expect(said).toEqual([]);
    const lanes = publisher();
    const failure = await failureOf(lanes.send({ topic, partition: 9, records: records('a', 1) }));
    expect(failure).toMatchObject({ code: 'partition-missing', outcome: 'refused', topic, partition: 9 });
    expect(failure.message).toContain(`${topic}/9`);
    await expect(lanes.leaderOf(topic, 9)).rejects.toMatchObject({ code: 'partition-missing' });
    await expect(lanes.leaderOf(topic, 1)).resolves.toBe(1);
    expect(await readAll(topic)).toEqual([]);
  });

  it('refuses a topic that does not exist, makes none, and goes on with the others', async () => {
    const topic = await createTopic('there');
    const absent = uniqueName('absent');
    const lanes = publisher();
    const sends = Array.from({ length: 10 }, async (_, round) => {
      const failure = await failureOf(lanes.send({ topic: absent, partition: round, records: records('a', 1) }));
      expect(failure).toMatchObject({ code: 'topic-missing', outcome: 'refused' });
    });
    await Promise.all([...sends, lanes.send({ topic, partition: 0, records: records('b', 2) })]);
    expect(await readAll(topic)).toHaveLength(2);
    expect(await withAdmin(undefined, (admin) => admin.listTopics())).not.toContain(absent);
  });

  it('does not count a record that the broker refuses as sent, and sends what comes after', async () => {
    const topic = await createTopic('refused', { config: { 'max.message.bytes': '2000' } });
    const lanes = publisher();
    const tooLarge = [{ key: 'k', value: Buffer.alloc(5000), headers: {} }];
    const failure = await failureOf(lanes.send({ topic, partition: 0, records: tooLarge }));
    expect(failure).toMatchObject({ code: 'message-too-large', outcome: 'refused', retriable: false });
    // The same record count as the refused batch: with the old producer the broker might take it for a repetition.
    await expect(lanes.send({ topic, partition: 0, records: records('a', 1) })).resolves.toMatchObject({
      baseOffset: 0n,
    });
    await expect(lanes.send({ topic, partition: 0, records: records('b', 1) })).resolves.toMatchObject({
      baseOffset: 1n,
    });
    expect((await readAll(topic)).map(({ value }) => String(value))).toEqual(['a0', 'b0']);
  });

  it('fails only the lane whose topic is deleted, again and again, while others keep their order', async () => {
    const topic = await createTopic('stays');
    const doomed = await createTopic('doomed');
    const lanes = publisher();
    await lanes.send({ topic: doomed, partition: 0, records: records('x', 1) });
    await lanes.send({ topic, partition: 0, records: records('0-', 1) });
    await deleteTopic(doomed);
    let refusals = 0;
    for (let round = 1; round <= 20; round++) {
      const [gone, sent] = await Promise.allSettled([
        lanes.send({ topic: doomed, partition: 0, records: records('y', 1) }),
        lanes.send({ topic, partition: 0, records: records(`${round}-`, 1) }),
      ]);
      if (gone.status === 'rejected') refusals++;
      while (sent.status === 'rejected' && !(await resent(round))) continue;
    }
    async function resent(round: number): Promise<boolean> {
      return lanes.send({ topic, partition: 0, records: records(`${round}-`, 1) }).then(
        () => true,
        () => false,
      );
    }
    expect(refusals).toBe(20);
    const order = (await readAll(topic)).map(({ value }) => parseInt(String(value), 10));
    expect([...new Set(order)]).toEqual(Array.from({ length: 21 }, (_, round) => round));
  });

  it('says that no broker is there, and sends when one is', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const lanes = publisher(`127.0.0.1:${port}`);
    const failure = await failureOf(lanes.send({ topic: 'any', partition: 0, records: records('a', 1) }));
    expect(failure).toMatchObject({ code: 'broker-unreachable', outcome: 'refused', retriable: true });
  });

  it('refuses a record that cannot be encoded, and sends what comes after', async () => {
    const topic = await createTopic('unencodable');
    const lanes = publisher();
    const headers = { wrong: 7 as unknown as string };
    const failure = await failureOf(lanes.send({ topic, partition: 0, records: [{ key: 'k', value: null, headers }] }));
    expect(failure).toMatchObject({ code: 'invalid-record', outcome: 'refused', retriable: false });
    await expect(lanes.send({ topic, partition: 0, records: records('a', 1) })).resolves.toMatchObject({
      baseOffset: 0n,
    });
  });

  it('refuses an empty batch and, once closed, everything', async () => {
    const topic = await createTopic('closed');
    const lanes = publisher();
    await expect(lanes.send({ topic, partition: 0, records: [] })).rejects.toMatchObject({ code: 'invalid-record' });
    await lanes.send({ topic, partition: 0, records: records('a', 1) });
    await lanes.close();
    await lanes.close();
    const failure = await failureOf(lanes.send({ topic, partition: 0, records: records('b', 1) }));
    expect(failure).toMatchObject({ code: 'publisher-closed', outcome: 'refused' });
  });
});
