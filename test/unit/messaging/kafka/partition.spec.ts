import { createRequire } from 'node:module';
import { partitionOf } from '../../../../src/messaging/kafka';
import { murmur2 } from '../../../../src/messaging/kafka/partition';

const kafkajs = createRequire(__filename)('kafkajs/src/producer/partitioners/default/murmur2') as (
  key: string,
) => number;

// From Kafka's own UtilsTest.testMurmur2 (apache/kafka, clients).
it.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])('murmur2 of %s is what the Java client computes', (text, hash) => {
  expect(murmur2(Buffer.from(text))).toBe(hash);
});

it('agrees with kafkajs on thousands of keys of every length and alphabet', () => {
  const alphabet = ['0', 'A', 'z', '-', 'ä', '€', '😀', '\u0000', '\u00ff'];
  for (let index = 0; index < 5_000; index++) {
    const key =
      Array.from({ length: index % 41 }, (_, at) => alphabet[(index * 7 + at * 3) % alphabet.length]).join('') + index;
    expect(murmur2(Buffer.from(key))).toBe(kafkajs(key));
    expect(partitionOf(key, 12)).toBe((kafkajs(key) & 0x7fffffff) % 12);
  }
});

it('spreads order numbers evenly', () => {
  const counts = new Array<number>(12).fill(0);
  for (let index = 0; index < 12_000; index++) counts[partitionOf(`PO-${index}`, 12)]! += 1;
  expect(Math.min(...counts)).toBeGreaterThan(900);
  expect(Math.max(...counts)).toBeLessThan(1_100);
});

it('refuses a topic without partitions', () => {
  expect(() => partitionOf('a', 0)).toThrow(RangeError);
  expect(() => partitionOf('a', 1.5)).toThrow(RangeError);
});
