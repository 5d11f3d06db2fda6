import { eventually } from '../../support/eventually';
import { produce } from '../../support/kafka';
import { closeAll, committed, createTopic, Listener, members, startSource } from './fixtures';

const PARTITIONS = 6;

const numbers = (from: number, count: number, partition: number) =>
  Array.from({ length: count }, (_, index) => ({ partition, value: `${partition}:${from + index}` }));

/** A handler that takes records one by one, as long as its batch is not stale, with a heartbeat before each. */
function oneByOne(listener: Listener, gate?: () => Promise<void>): void {
  listener.handle = async (batch) => {
    for (const record of batch.records) {
      await gate?.();
      await batch.heartbeat();
      if (batch.isStale()) return;
      listener.seen.push(record);
      await batch.done(record.offset);
    }
  };
}

afterEach(closeAll);

describe('when the group rebalances', () => {
  it('in the middle of batches, nothing is lost, order holds, and what was done does not come again', async () => {
    const topic = await createTopic('rebalance', { partitions: PARTITIONS });
    const first = new Listener();
    const pace = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
    oneByOne(first, pace);
    const a = startSource({ topics: [topic] }, first);
    await eventually(() => a.source.state === 'joined');
    for (let partition = 0; partition < PARTITIONS; partition++) await produce(topic, numbers(0, 300, partition));
    await eventually(() => first.seen.length > 100);
    const second = new Listener();
    oneByOne(second, pace);
    const b = startSource({ topics: [topic], group: a.group }, second);
    await eventually(() => second.seen.length > 100);
    await b.source.close();
    await eventually(() => new Set([...first.values, ...second.values]).size === PARTITIONS * 300, { timeout: 40_000 });
    // Each saw its own runs in order; together they saw everything, and nothing twice.
    for (const listener of [first, second]) {
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const offsets = listener.seen.filter((record) => record.partition === partition).map(({ offset }) => offset);
        expect(offsets).toEqual(offsets.toSorted((one, other) => Number(one - other)));
      }
    }
    expect(first.seen.length + second.seen.length).toBe(PARTITIONS * 300);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      await eventually(async () => (await committed(a.group, topic, partition)) === 300n);
    }
  });

  it('and a member lost its place while a batch was in hand, it commits nothing of it and joins again', async () => {
    const topic = await createTopic('evicted');
    await produce(topic, numbers(0, 5, 0));
    const slow = new Listener();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let stale: boolean | undefined;
    slow.handle = async (batch) => {
      if (stale !== undefined) return slow.take(batch);
      slow.seen.push(...batch.records);
      await held;
      await batch.heartbeat();
      stale = batch.isStale();
      await batch.done(1n);
    };
    const a = startSource({ topics: [topic], timing: { sessionTimeout: 6_000, rebalanceTimeout: 2_000 } }, slow);
    await eventually(() => slow.seen.length === 5);
    const b = startSource({
      topics: [topic],
      group: a.group,
      timing: { sessionTimeout: 6_000, rebalanceTimeout: 2_000 },
    });
    await eventually(async () => (await committed(a.group, topic)) === 5n);
    expect(new Set(b.listener.values).size).toBe(5);
    release();
    await eventually(async () => (await members(a.group)) === 2);
    await eventually(() => stale);
    expect(await committed(a.group, topic)).toBe(5n);
    await produce(topic, numbers(5, 1, 0));
    await eventually(() => [...slow.values, ...b.listener.values].includes('0:5'));
    await eventually(async () => (await committed(a.group, topic)) === 6n);
    await eventually(() => a.source.state === 'joined');
  });
});
