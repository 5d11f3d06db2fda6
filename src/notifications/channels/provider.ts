import type { Channel, ClaimedNotification, Content } from '../domain/notification';

/** What is handed to a provider: the notification, with what is sent. */
export interface Letter extends Omit<ClaimedNotification, 'content'> {
  content: Content;
}

/** How a provider answered. `code` is a stable slug, `detail` a sentence without personal data (500 characters at most). */
export type SendOutcome =
  /** It has it. */
  | { kind: 'accepted'; reference?: string; code?: string; detail?: string }
  /** For good. `badAddress`: nothing will ever arrive there. */
  | { kind: 'refused'; code: string; detail: string; badAddress?: boolean }
  /**
   * For now, and certainly not done. `fault`: none would fare better now, which its breaker counts; otherwise it is about this one alone.
   * `ours`: the cause is on our side and says nothing about the provider, which was not asked.
   */
  | { kind: 'later'; code: string; detail: string; retryAfterMs?: number; fault: boolean; ours?: true }
  /** The request, or a part of it, went out, and nobody heard what became of it. */
  | { kind: 'unknown'; code: string; detail: string; retryAfterMs?: number };

/** Whether an earlier request under our id has reached the provider. */
export type LookUpOutcome =
  | { kind: 'found'; reference?: string; detail?: string }
  /** It never came, and can't come any more. */
  | { kind: 'not-found' }
  /** It reached the provider, which gave it up. */
  | { kind: 'refused'; code: string; detail: string }
  /** It doesn't say. That tells nothing of its sending, unless `fault`: it was not even reached. */
  | { kind: 'unavailable'; code: string; detail: string; fault?: true };

/**
 * Sends over one channel. Total functions: they resolve, whatever the network does. A notification's id is the idempotency key where the
 * provider has such keys, and stands in what is sent in any case.
 */
export interface Provider {
  readonly channel: Channel;
  /** How long it remembers our id and does nothing a second time, ms; 0: not at all. */
  readonly remembersMs: number;
  /** Longest that one call takes; the lease must be longer. */
  readonly timeoutMs: number;
  /** Most calls a second, over all processes. */
  readonly perSecond: number;
  /**
   * @param signal aborts when the lease is about to end: what was not written to the network by then must not be written
   */
  send(letter: Letter, signal: AbortSignal): Promise<SendOutcome>;
  /** Absent where the provider can't be asked. Called no earlier than lease and timeout after the attempt in doubt began. */
  lookUp?(letter: Letter, signal: AbortSignal): Promise<LookUpOutcome>;
  close(): Promise<void>;
}
