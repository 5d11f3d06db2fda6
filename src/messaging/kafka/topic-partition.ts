export interface TopicPartition {
  topic: string;
  partition: number;
}

/** Key of a topic-partition in maps and logs. */
export const laneKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;
