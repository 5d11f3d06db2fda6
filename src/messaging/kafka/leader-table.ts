import type { PartitionMetadata } from 'kafkajs';

/** Which broker leads each partition, as last heard. Lives and dies with its client, so a failure forgets it all. */
export class LeaderTable {
  private readonly topics = new Map<string, PartitionMetadata[]>();
  private readonly lookups = new Map<string, Promise<PartitionMetadata[]>>();

  /** @param fetch asks the broker about one topic; one missing topic must not spoil the answer for others */
  constructor(private readonly fetch: (topic: string) => Promise<PartitionMetadata[]>) {}

  /** Called for every record sent, with the metadata that the producer itself uses: cheap when nothing changed. */
  observe(topic: string, partitions: PartitionMetadata[]): void {
    if (this.topics.get(topic) !== partitions) this.topics.set(topic, partitions);
  }

  /** Broker id, or undefined when the topic has no such partition. Rejects when the broker can't say. */
  async find(topic: string, partition: number): Promise<number | undefined> {
    const known = leaderIn(this.topics.get(topic), partition);
    if (known !== undefined) return known;
    let lookup = this.lookups.get(topic);
    if (!lookup) {
      lookup = this.fetch(topic).finally(() => this.lookups.delete(topic));
      this.lookups.set(topic, lookup);
    }
    const partitions = await lookup;
    this.topics.set(topic, partitions);
    return leaderIn(partitions, partition);
  }
}

const leaderIn = (partitions: readonly PartitionMetadata[] | undefined, partition: number): number | undefined =>
  partitions?.find(({ partitionId }) => partitionId === partition)?.leader;
