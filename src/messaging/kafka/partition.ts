/** Placeholder replaced by the kafka room: Java-compatible murmur2. */
export function partitionOf(key: string, partitions: number): number {
  return Buffer.byteLength(key) % partitions;
}
