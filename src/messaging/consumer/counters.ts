import type { Settled } from './record-transaction';

export type InboxResult = Settled['result'];

/** Messages by topic and result since the process began; a metric reads them. */
export class ConsumerCounters {
  private readonly topics = new Map<string, Record<InboxResult, number>>();
  private readonly violations = new Map<string, Map<string, number>>();

  /** @param on hears at once of every message that died, or was held */
  constructor(private readonly on: { dead?: (topic: string) => void; held?: (topic: string) => void } = {}) {}

  count(topic: string, result: InboxResult): void {
    if (result === 'dead' || result === 'held') this.on[result]?.(topic);
    let counts = this.topics.get(topic);
    if (!counts) this.topics.set(topic, (counts = { applied: 0, duplicate: 0, held: 0, retry: 0, dead: 0 }));
    counts[result]++;
  }

  /** A record that broke what was agreed about its bytes or attributes; codes are those of inspection, a handful. */
  countViolation(topic: string, code: string): void {
    let codes = this.violations.get(topic);
    if (!codes) this.violations.set(topic, (codes = new Map<string, number>()));
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  /** A copy, by topic and code. */
  violationsByTopic(): Record<string, Record<string, number>> {
    return Object.fromEntries([...this.violations].map(([topic, codes]) => [topic, Object.fromEntries(codes)]));
  }

  /** A copy, by topic. */
  byTopic(): Record<string, Record<InboxResult, number>> {
    return Object.fromEntries([...this.topics].map(([topic, counts]) => [topic, { ...counts }]));
  }
}
