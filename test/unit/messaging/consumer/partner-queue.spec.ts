import { PartnerQueue } from '../../../../src/messaging/consumer/partner-queue';
import { PartitionWork } from '../../../../src/messaging/consumer/partition-work';
import type { Channel } from '../../../../src/messaging/channels';
import type { InboundRecord, RecordBatch } from '../../../../src/messaging/kafka';

function work(partition: number, count: number): PartitionWork {
  const records = Array.from(
    { length: count },
    (_, offset) => ({ offset: BigInt(offset), partition }) as InboundRecord,
  );
  return new PartitionWork({ topic: 't', partition, records } as unknown as RecordBatch, {} as Channel);
}

describe('the queue of a partner', () => {
  const at = (queue: PartnerQueue, size: number, linger: number, later = 0) =>
    queue.dueIn(size, linger, Date.now() + later);

  test('is due at once when a batch is full, and after the linger when it is not', () => {
    const queue = new PartnerQueue();
    expect(at(queue, 10, 5)).toBe(Infinity);
    queue.add(work(0, 6));
    expect(at(queue, 10, 500_000)).toBeGreaterThan(400_000);
    expect(at(queue, 10, 5, 6)).toBe(0);
    queue.add(work(1, 4));
    expect(at(queue, 10, 500_000)).toBe(0);
  });

  test('starts nothing small beside a batch that runs: its time fills the next one', () => {
    const queue = new PartnerQueue();
    queue.add(work(0, 6));
    queue.running = 1;
    expect(at(queue, 10, 0, 100)).toBe(Infinity);
    queue.add(work(1, 6));
    expect(at(queue, 10, 0)).toBe(0);
  });

  test('gives what fits, from the partitions in their turn, each in offset order', () => {
    const queue = new PartnerQueue();
    const [first, second, third] = [work(0, 3), work(1, 4), work(2, 5)];
    for (const one of [first, second, third]) queue.add(one);
    const portions = queue.take(6);
    expect(
      portions.map(({ work: one, records }) => [one.partition, records.map((record) => Number(record.offset))]),
    ).toEqual([
      [0, [0, 1, 2]],
      [1, [0, 1, 2]],
    ]);
    expect([first.remaining, second.remaining]).toEqual([0, 1]);
    expect(queue.drain()).toEqual([third]);
    expect(queue.drain()).toEqual([]);
  });
});
