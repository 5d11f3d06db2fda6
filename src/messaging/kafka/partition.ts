/**
 * Murmur2 as Kafka's Java client has it (org.apache.kafka.common.utils.Utils.murmur2), 32 bits, seed 0x9747b28c.
 * `Math.imul` multiplies in 32 bits, which kafkajs' own version does in long arithmetic, ten times slower.
 */
export function murmur2(data: Buffer): number {
  const M = 0x5bd1e995;
  const { length } = data;
  let hash = 0x9747b28c ^ length;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    let word = Math.imul(data.readInt32LE(at), M);
    word = Math.imul(word ^ (word >>> 24), M);
    hash = Math.imul(hash, M) ^ word;
  }
  if (length - at === 3) hash ^= (data[at + 2] ?? 0) << 16;
  if (length - at >= 2) hash ^= (data[at + 1] ?? 0) << 8;
  if (length - at >= 1) hash = Math.imul(hash ^ (data[at] ?? 0), M);
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}

/** Partition of a key, 0 … partitions - 1: the one that Kafka's Java clients choose, so that partners find what we find. */
export function partitionOf(key: string, partitions: number): number {
  if (!Number.isInteger(partitions) || partitions < 1) throw new RangeError('A topic has at least one partition.');
  return (murmur2(Buffer.from(key, 'utf8')) & 0x7fffffff) % partitions;
}
