import { Producer } from '@platformatic/kafka';
import { eventually } from '../../support/eventually';
import { deleteTopic, produce, uniqueName } from '../../support/kafka';
import { closeAll, closing, committed, createTopic, Listener, members, recordingLogger, startSource } from './fixtures';

const values = (stem: string, count: number, partition = 0) =>
  Array.from({ length: count }, (_, index) => ({ partition, key: stem, value: `${stem}${index}` }));

afterEach(closeAll);

describe('a batch source', () => {
  it('commits behind transactions that were aborted, of which nobody sees a record', async () => {
    const topic = await createTopic('aborted');
    const producer = closing(
      new Producer({
        clientId: 'test',
        bootstrapBrokers: (process.env['TEST_KAFKA_BROKERS'] ?? '').split(','),
        idempotent: true,
        transactionalId: uniqueName('transaction'),
      }),
    );
    const transaction = await producer.beginTransaction();
    await transaction.send({ messages: [{ topic, partition: 0, value: Buffer.from('never') }] });
    await transaction.abort();
    const { listener, group } = startSource({ topics: [topic] });
    await eventually(async () => (await committed(group, topic)) === 2n, { what: 'record and marker are behind' });
    expect(listener.seen).toEqual([]);
  });

  it('hands out records untouched, tombstones included, and commits what is done', async () => {
    const topic = await createTopic('inbound');
    await produce(topic, [
      { key: 'PO-1', value: '{"key":1,"value":2,"headers":3}', headers: { ce_id: 'ä', raw: Buffer.from([0, 255]) } },
      { key: 'PO-1', value: null },
      { value: '' },
    ]);
    const { source, listener, group } = startSource({ topics: [topic] });
    await eventually(() => listener.seen.length === 3);
    expect(listener.seen).toMatchObject([
      {
        topic,
        partition: 0,
        offset: 0n,
        key: Buffer.from('PO-1'),
        value: Buffer.from('{"key":1,"value":2,"headers":3}'),
        headers: { ce_id: Buffer.from('ä'), raw: Buffer.from([0, 255]) },
      },
      { offset: 1n, key: Buffer.from('PO-1'), value: null },
      { offset: 2n, key: null, value: Buffer.alloc(0) },
    ]);
    expect(Math.abs(Date.now() - (listener.seen[0]?.timestamp ?? 0))).toBeLessThan(60_000);
    await eventually(async () => (await committed(group, topic)) === 3n);
    expect(source).toMatchObject({ state: 'joined', everJoined: true, trouble: undefined });
    expect(Date.now() - (source.lastActivity?.getTime() ?? 0)).toBeLessThan(60_000);
    await source.close();
    expect(source.state).toBe('closed');
    expect(await members(group)).toBe(0);
  });

  it('says when the broker took a record, where the topic is not to believe its writer', async () => {
    const topic = await createTopic('taken', { config: { 'message.timestamp.type': 'LogAppendTime' } });
    const producer = closing(
      new Producer({ clientId: 'test', bootstrapBrokers: (process.env['TEST_KAFKA_BROKERS'] ?? '').split(',') }),
    );
    const record = { topic, partition: 0, value: Buffer.from('x'), timestamp: 1_000_000_000_000n };
    await producer.send({ messages: [record, record] });
    await producer.send({ messages: [record], compression: 'gzip' });
    const { listener } = startSource({ topics: [topic] });
    await eventually(() => listener.seen.length === 3);
    for (const { timestamp } of listener.seen) expect(timestamp).toBeGreaterThan(Date.now() - 3_600_000);
  });

  it('goes on behind what is done after a restart, and commits the last of many commits', async () => {
    const topic = await createTopic('resumed');
    await produce(topic, values('a', 50));
    const listener = new Listener();
    listener.handle = async (batch) => {
      for (const record of batch.records) {
        listener.seen.push(record);
        await batch.done(record.offset);
      }
    };
    const first = startSource({ topics: [topic] }, listener);
    await eventually(() => listener.seen.length === 50);
    await first.source.close();
    expect(await committed(first.group, topic)).toBe(50n);
    await produce(topic, values('b', 3));
    const second = startSource({ topics: [topic], group: first.group });
    await eventually(() => second.listener.seen.length === 3);
    expect(second.listener.values).toEqual(['b0', 'b1', 'b2']);
  });

  it.each([
    ['a TypeError', () => new TypeError("Cannot read properties of undefined (reading 'x')")],
    ['a RangeError', () => new RangeError('out of bounds')],
    ['a SyntaxError', () => new SyntaxError('Unexpected token')],
    ['a ReferenceError', () => new ReferenceError('x is not defined')],
    ['something that is no error', () => 'a string'],
  ])('survives %s and hands the rest of the batch out again', async (_name, fault) => {
    const topic = await createTopic('faults');
    await produce(topic, values('a', 5));
    const listener = new Listener();
    const { logger, lines } = recordingLogger();
    let faults = 0;
    listener.handle = async (batch) => {
      if (faults++ > 1) return listener.take(batch);
      const [head] = batch.records;
      if (head) listener.seen.push(head);
      if (head) await batch.done(head.offset);
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a library may throw anything
      throw fault();
    };
    const { source } = startSource({ topics: [topic], logger }, listener);
    await eventually(() => listener.seen.length >= 1 && source.trouble);
    await eventually(() => listener.seen.length === 5);
    expect(listener.values).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    // Whoever sees a record is called before its source knows that it went well.
    await eventually(() => source.state === 'joined' && source.trouble === undefined);
    expect(lines.filter(({ msg }) => msg === 'joined the consumer group')).toHaveLength(1);
    expect(lines.filter(({ msg }) => msg === 'batch failed; it comes again')).toMatchObject([
      { topic, partition: 0, attempt: 1 },
      { topic, partition: 0, attempt: 2 },
    ]);
  });

  it('hands a batch out again that its handler left unfinished', async () => {
    const topic = await createTopic('unfinished');
    await produce(topic, values('a', 3));
    const listener = new Listener();
    let calls = 0;
    listener.handle = (batch) => (calls++ === 0 ? Promise.resolve() : listener.take(batch));
    startSource({ topics: [topic] }, listener);
    await eventually(() => listener.seen.length === 3);
    expect(listener.values).toEqual(['a0', 'a1', 'a2']);
  });

  it('lets other partitions flow while one is paused or fails, and resumes it by itself in order', async () => {
    const topic = await createTopic('paused', { partitions: 3 });
    const listener = new Listener();
    let open = false;
    const pauses: number[] = [];
    listener.handle = async (batch) => {
      if (batch.partition === 0 && !open) {
        pauses.push(performance.now());
        batch.pause(150, 'the database is down');
        expect(batch.isStale()).toBe(true);
        return;
      }
      if (batch.partition === 1 && !open) throw new Error('always');
      await listener.take(batch);
    };
    const { source } = startSource({ topics: [topic] }, listener);
    await produce(topic, [...values('p', 4, 0), ...values('f', 4, 1)]);
    await eventually(() => pauses.length >= 3 && source.trouble?.includes('the database is down'));
    for (let round = 0; round < 5; round++) {
      await produce(topic, values(`o${round}-`, 1, 2));
      await eventually(() => listener.values.includes(`o${round}-0`));
    }
    await eventually(() => source.trouble?.includes(`${topic}/1: always`));
    expect(source.state).toBe('joined');
    const gaps = pauses.slice(1).map((time, index) => time - (pauses[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(149);
    open = true;
    await eventually(() => new Set(listener.values).size === 13);
    for (const partition of [0, 1, 2]) {
      const offsets = listener.seen.filter((record) => record.partition === partition).map(({ offset }) => offset);
      expect(offsets).toEqual(offsets.map((_, index) => BigInt(index)));
    }
    await eventually(() => source.trouble === undefined);
  });

  it('keeps its membership through a batch longer than the session, by heartbeats', async () => {
    const topic = await createTopic('long');
    await produce(topic, values('a', 2));
    const listener = new Listener();
    const { logger, lines } = recordingLogger();
    const began = Date.now();
    listener.handle = async (batch) => {
      await eventually(
        async () => {
          await batch.heartbeat();
          return Date.now() - began > 9_000;
        },
        { interval: 100 },
      );
      expect(batch.isStale()).toBe(false);
      await listener.take(batch);
    };
    const { group } = startSource(
      { topics: [topic], logger, timing: { sessionTimeout: 6_000, heartbeat: 500 } },
      listener,
    );
    await eventually(() => listener.seen.length === 2);
    await eventually(async () => (await committed(group, topic)) === 2n);
    expect(lines.filter(({ msg }) => msg === 'joined the consumer group')).toHaveLength(1);
  });

  it('finishes and commits the batch in hand when it closes, and hands out nothing more', async () => {
    const topic = await createTopic('closing', { partitions: 4 });
    await produce(
      topic,
      [0, 1, 2, 3].flatMap((partition) => values(`p${partition}-`, 2, partition)),
    );
    const listener = new Listener();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const stale: boolean[] = [];
    listener.handle = async (batch) => {
      await held;
      stale.push(batch.isStale());
      await listener.take(batch);
    };
    const { source, group } = startSource({ topics: [topic] }, listener);
    await eventually(() => source.state === 'joined');
    await eventually(async () => (await members(group)) === 1);
    await eventually(() => source.lastActivity);
    const closed = source.close();
    release();
    await closed;
    const seen = listener.seen.length;
    expect(stale.every(Boolean)).toBe(true);
    for (const partition of [0, 1, 2, 3]) {
      const done = listener.seen.filter((record) => record.partition === partition).length;
      expect(await committed(group, topic, partition)).toBe(done === 0 ? -1n : BigInt(done));
    }
    await produce(topic, values('late', 1));
    expect(await members(group)).toBe(0);
    expect(listener.seen).toHaveLength(seen);
  });

  it('never joins after it was closed, however early that was', async () => {
    const topic = await createTopic('zombie');
    const group = uniqueName('zombie');
    // Closed at every stage of its start: looking for topics, connecting, joining, joined.
    for (const wait of [0, 1, 5, 20, 60, 120, 250]) {
      const { source, listener } = startSource({ topics: [topic], group });
      await new Promise((resolve) => setTimeout(resolve, wait));
      await source.close();
      expect(await members(group)).toBe(0);
      expect(source.state).toBe('closed');
      source.start();
      expect(listener.seen).toEqual([]);
    }
    expect(await members(group)).toBe(0);
  });

  it('leaves out topics that do not exist, says so, and reads them when they appear', async () => {
    const there = await createTopic('there');
    const absent = uniqueName('absent');
    const { logger, lines } = recordingLogger();
    const { source, listener } = startSource({ topics: [absent, there], logger });
    await produce(there, values('a', 1));
    await eventually(() => listener.seen.length === 1);
    expect(source.trouble).toBe(`topic ${absent} does not exist`);
    await createTopic(absent, { exact: true });
    await produce(absent, values('b', 1));
    await eventually(() => listener.seen.length === 2);
    await eventually(() => source.trouble === undefined);
    expect(listener.values).toEqual(['a0', 'b0']);
    expect(lines.filter(({ code }) => code === 'topic-missing')).toHaveLength(1);
  });

  it('goes on with the others when a topic is deleted under it', async () => {
    const stays = await createTopic('stays');
    const doomed = await createTopic('doomed');
    const { source, listener } = startSource({ topics: [doomed, stays] });
    await produce(doomed, values('d', 1));
    await eventually(() => listener.seen.length === 1);
    await deleteTopic(doomed);
    await produce(stays, values('a', 1));
    await eventually(() => source.trouble === `topic ${doomed} does not exist`);
    await produce(stays, values('b', 1));
    await eventually(() => listener.values.includes('b0'));
    expect(listener.values).toEqual(['d0', 'a0', 'b0']);
    expect(source.state).toBe('joined');
  });

  it('joins again with another list of topics', async () => {
    const first = await createTopic('first');
    const second = await createTopic('second');
    const { source, listener } = startSource({ topics: [first] });
    await produce(second, values('b', 1));
    await produce(first, values('a', 1));
    await eventually(() => listener.seen.length === 1);
    await source.restart([first, second]);
    await eventually(() => listener.seen.length === 2);
    await produce(first, values('c', 1));
    await eventually(() => listener.seen.length === 3);
    expect(listener.values).toEqual(['a0', 'b0', 'c0']);
    await source.restart([second]);
    await eventually(() => source.state === 'joined');
    await source.close();
  });
});
