import type { Settled } from './record-transaction';

export type InboxResult = Settled['result'];

/** Messages by topic and result since the process began; a metric reads them. */
export class ConsumerCounters {
  private readonly topics = new Map<string, Record<InboxResult, number>>();

  count(topic: string, result: InboxResult): void {
    let counts = this.topics.get(topic);
    if (!counts) this.topics.set(topic, (counts = { applied: 0, duplicate: 0, held: 0, retry: 0, dead: 0 }));
    counts[result]++;
  }

  /** A copy, by topic. */
  byTopic(): Record<string, Record<InboxResult, number>> {
    return Object.fromEntries([...this.topics].map(([topic, counts]) => [topic, { ...counts }]));
  }
}
