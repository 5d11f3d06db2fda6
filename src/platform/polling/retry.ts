import { type BackoffPolicy, backoffMs } from './backoff';
import { sleep } from './sleep';

/**
 * Calls `work` until it succeeds or `signal` aborts; each failure is told to `onFailure` with its attempt and the pause
 * that follows. Rejects only with the signal's reason.
 */
export async function retryForever<T>(
  work: () => Promise<T>,
  options: {
    policy: BackoffPolicy;
    signal: AbortSignal;
    onFailure: (error: unknown, attempt: number, pauseMs: number) => void;
  },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    options.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const pause = backoffMs(options.policy, attempt);
      options.onFailure(error, attempt, pause);
      await sleep(pause, options.signal);
    }
  }
}
