import { setTimeout as delay } from 'node:timers/promises';
import { PublishError } from '../../../src/messaging/kafka';
import { addRows, Bench, RecordingPublisher, until } from './harness';

describe('a relay whose lanes fail', () => {
  const bench = new Bench();
  let publisher: RecordingPublisher;
  beforeEach(async () => {
    await bench.open();
    publisher = new RecordingPublisher();
  });
  afterEach(() => bench.close());

  it('holds the cursor back and reads ahead no further than its bound, where nothing may be parked', async () => {
    const client = await bench.client();
    publisher.before = ({ partition }) => {
      if (partition === 1) throw new Error('refused');
    };
    const [stuck] = await addRows(client, [{ key: 'a', partition: 1 }]);
    const relay = bench.relay(publisher, { pageRows: 50, readAheadRows: 200, parking: { othersWithinMs: -1 } });
    await until('the failing lane', () => relay.state.failingLanes.length === 1);
    for (let i = 0; i < 10; i++)
      await addRows(
        client,
        Array.from({ length: 50 }, () => ({ key: 'b' })),
      );
    await until('the other lane', () => publisher.sent === 500);
    for (let i = 0; i < 20; i++) {
      await addRows(
        client,
        Array.from({ length: 50 }, () => ({ key: 'a', partition: 1 })),
      );
    }
    await until('the bound', () => (relay.state.failingLanes[0]?.rows ?? 0) >= 200);
    await until('the metrics', () => relay.state.pendingRows >= 1001);
    expect(relay.state.failingLanes[0]?.rows).toBeLessThanOrEqual(250);
    expect(await unsent()).toBe(1501);
    publisher.before = () => undefined;
    await until('all rows', () => publisher.sent === 1501);
    await until('the cursor', async () => (await unsent()) === 0);
    expect(publisher.firsts('orders.acme.request.v1/1')[0]).toBe(stuck);

    async function unsent(): Promise<number> {
      const { rows } = await client.query<{ n: string }>(
        'SELECT count(*) AS n FROM outbox_message, outbox_cursor WHERE NOT pg_visible_in_snapshot(xid, done)',
      );
      return Number(rows[0]?.n);
    }
  });

  it('counts what waits also while every commit wakes it and it may read no further', async () => {
    const client = await bench.client();
    publisher.before = () => {
      throw new Error('refused');
    };
    const relay = bench.relay(publisher, { pageRows: 50, readAheadRows: 50 });
    const commits = setInterval(() => relay.wake(), 5);
    bench.onClose(() => Promise.resolve(clearInterval(commits)));
    await addRows(
      client,
      Array.from({ length: 60 }, () => ({ key: 'a' })),
    );
    await until('the bound', () => (relay.state.failingLanes[0]?.rows ?? 0) >= 50);
    await addRows(
      client,
      Array.from({ length: 300 }, () => ({ key: 'a' })),
    );
    await until('the metrics', () => relay.state.pendingRows >= 360);
  });

  it('sends the same rows again, first of their lane, when the answer was lost', async () => {
    const client = await bench.client();
    const ids = await addRows(
      client,
      Array.from({ length: 1200 }, () => ({ key: 'a' })),
    );
    let failures = 3;
    publisher.after = () => {
      if (failures-- > 0) throw new Error('written, and the answer lost');
    };
    bench.relay(publisher);
    await until('all rows', () => new Set(publisher.firsts()).size === 1200);
    expect(publisher.firsts()).toEqual(ids);
    await until('the repeats', () => publisher.sent === 1200 + 3 * 500);
  });

  it('halves a batch that the broker finds too large, in order', async () => {
    const client = await bench.client();
    publisher.before = ({ topic, partition, records }) => {
      if (records.length > 3) throw new PublishError('message-too-large', 'refused', topic, partition, 'too large');
    };
    const ids = await addRows(
      client,
      Array.from({ length: 40 }, () => ({ key: 'a' })),
    );
    const relay = bench.relay(publisher);
    await until('the rows', () => publisher.sent === 40);
    expect(publisher.lanes.get('orders.acme.request.v1/0')).toEqual(ids);
    await until('a lane in order', () => relay.state.failingLanes.length === 0);
  });

  it('sends through a client of its own while it fails, so that a request that hangs holds up nobody, and comes back', async () => {
    const client = await bench.client();
    const quarantine = new RecordingPublisher();
    let failures = 1;
    publisher.before = ({ partition }) => {
      if (partition === 1 && failures-- > 0) throw new Error('timed out');
    };
    const hanging = Promise.withResolvers<void>();
    let hung = 0;
    quarantine.before = () => {
      hung++;
      return hanging.promise;
    };
    const relay = bench.relay(publisher, { quarantine: () => quarantine });
    const ids = await addRows(client, [{ key: 'a', partition: 1 }]);
    await until('the failure', () => relay.state.failingLanes.length === 1);
    await until('the next attempt', () => hung === 1);
    // The same broker leads both partitions: with one slot for both this row would wait.
    await addRows(client, [{ key: 'b' }]);
    await until('the other lane', () => publisher.firsts('orders.acme.request.v1/0').length === 1);
    ids.push(...(await addRows(client, [{ key: 'a', partition: 1 }, { key: 'b' }])).slice(0, 1));
    await until('the other lane again', () => publisher.firsts('orders.acme.request.v1/0').length === 2);
    expect([quarantine.sent, publisher.lanes.get('orders.acme.request.v1/1')]).toEqual([0, undefined]);
    hanging.resolve();
    await until('the rest', () => publisher.firsts('orders.acme.request.v1/1').length === 1);
    expect([...quarantine.firsts(), ...publisher.firsts('orders.acme.request.v1/1')]).toEqual(ids);
    expect(quarantine.firsts()).toHaveLength(1);
    expect(relay.state.failingLanes).toEqual([]);
  });

  it('has one outstanding send to a partition, also while its leader moves', async () => {
    const client = await bench.client();
    let asked = 0;
    publisher.leader = (_, partition) => (partition === 1 ? 9 : asked++);
    let started = 0;
    const gate = Promise.withResolvers<void>();
    publisher.before = ({ partition }) => {
      if (partition === 1) return;
      started++;
      return gate.promise;
    };
    bench.relay(publisher);
    const ids = await addRows(client, [{ key: 'a' }]);
    await until('the send', () => started === 1);
    // Once the row of the other partition is sent, those of this one were read too, and their leader is another broker.
    ids.push((await addRows(client, [{ key: 'a' }, { key: 'b', partition: 1 }]))[0] ?? '');
    await until('the other partition', () => publisher.sent === 1);
    expect(started).toBe(1);
    gate.resolve();
    await until('all rows', () => publisher.sent === 3);
    expect(publisher.overlapping).toBe(0);
    expect(publisher.lanes.get('orders.acme.request.v1/0')).toEqual(ids);
  });

  it('has one outstanding send to a broker, and brokers beside each other', async () => {
    const client = await bench.client();
    let [now, most] = [0, 0];
    publisher.leader = (_, partition) => partition % 2;
    const perBroker = new Map<number, number>();
    publisher.before = async ({ partition }) => {
      const broker = partition % 2;
      perBroker.set(broker, (perBroker.get(broker) ?? 0) + 1);
      if ((perBroker.get(broker) ?? 0) > 1) throw new Error('two at once');
      most = Math.max(most, ++now);
      await delay(2);
      now--;
      perBroker.set(broker, (perBroker.get(broker) ?? 1) - 1);
    };
    const relay = bench.relay(publisher);
    for (let i = 0; i < 20; i++) {
      await addRows(
        client,
        Array.from({ length: 60 }, (_, n) => ({ key: `k${n}`, partition: n % 6 })),
      );
    }
    await until('all rows', () => publisher.sent === 1200);
    expect(most).toBe(2);
    expect(relay.state.failingLanes).toEqual([]);
  });
});
