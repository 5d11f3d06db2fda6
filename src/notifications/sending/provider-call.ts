import { messageOf } from '../../platform/errors';
import type { Letter, Provider } from '../channels/provider';
import type { Outcome } from '../domain/crash-policy';
import type { Deadline } from './deadline';

/** Resolves also where a provider breaks its word: throws, or goes on behind the lease. */
export async function call(
  provider: Provider,
  action: 'send' | 'look-up',
  letter: Letter,
  deadline: Deadline,
): Promise<Outcome> {
  // The process may have slept since its attempt was written: behind the lease somebody else may have it.
  if (deadline.isOver())
    return {
      kind: 'not-sent',
      code: 'lease-over',
      detail: 'No time was left to send it when its attempt had been written.',
    };
  try {
    const asked =
      action === 'send' ? provider.send(letter, deadline.signal) : provider.lookUp?.(letter, deadline.signal);
    const silent = deadline.passed().then(() => brokeOff(action, 'The provider did not end with its lease.'));
    return await Promise.race([asked ?? brokeOff(action, 'The provider can not be asked.'), silent]);
  } catch (error) {
    return brokeOff(action, messageOf(error));
  } finally {
    deadline.end();
  }
}

const brokeOff = (action: 'send' | 'look-up', detail: string): Outcome => ({
  kind: action === 'send' ? 'unknown' : 'unavailable',
  code: 'provider-broke-off',
  detail,
});
