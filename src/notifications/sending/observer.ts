import type { Channel } from '../domain/notification';

/** Counts what becomes of notifications. */
export interface NotificationObserver {
  /** `result`: the state that was written; `retried` where it waits for another attempt, `in-doubt` where it waits in doubt. */
  settled(kind: string, channel: Channel, result: string): void;
  /** Claims whose lease ended without a word. */
  lapsed(doubtful: boolean, count: number): void;
}

/** Token of the process's observer. */
export const NOTIFICATION_OBSERVER = Symbol('NotificationObserver');
