import type { SourceState } from '../kafka';
import type { ConsumerCounters } from './counters';

/** What the consumer of this process says about itself, from memory. */
export interface ConsumerHealth {
  /** `idle`: no partner writes to us yet, so there is nothing to join. */
  state: SourceState | 'idle';
  /** A consumer process is unready only until this is true. */
  everJoined: boolean;
  /** Milliseconds since the broker's time of the oldest record in hand that has no outcome; 0: none. */
  oldestUnprocessedAgeMs: number;
  /** Partitions pause because of this, nobody's message. */
  waitingFor: 'database' | 'registry' | 'parking' | undefined;
  /** One sentence, while something is wrong. */
  trouble: string | undefined;
  /** Messages by topic and result since the process began. */
  counts: ReturnType<ConsumerCounters['byTopic']>;
  /** Dead records whose bytes or attributes broke their contract, by topic and code, since the process began. */
  violations: ReturnType<ConsumerCounters['violationsByTopic']>;
  /** Channels that are paused, by flood or staff. */
  pausedTopics: readonly string[];
  /** Until when the broker keeps what is unread on them, as far as that is known. */
  unreadKeptUntil: readonly { topic: string; until: Date }[];
  /** Dead letters of all processes that are not on their dead letter topic; as last counted. */
  unpublishedDeadLetters: number;
}
