import { type AppError, NonRetriableError } from '../../../platform/errors';
import { type ReplayState, SKIPPED } from './replay';

// What may not be done to a replay, and what to do next.

export const replayUnknown = (): AppError =>
  new NonRetriableError('replay-unknown', 'There is no replay with this id.');

export const planExpired = (): AppError =>
  new NonRetriableError('plan-changed', 'The plan is older than a day and was not started.', { hint: PLAN_AGAIN });

export const planGone = (gone: number, count: number): AppError =>
  new NonRetriableError('plan-changed', `${gone} of the plan's ${count} messages are no dead letters any more.`, {
    hint: PLAN_AGAIN,
  });

export const stateRefused = (verb: string, state: ReplayState): AppError =>
  new NonRetriableError('replay-state', `The replay is ${state}; it can't be ${verb}.`, {
    hint: 'GET the replay shows where it stands.',
  });

export const groupNotAllowed = (count: number): AppError =>
  new NonRetriableError('forbidden', `The plan holds ${count} messages; more than one takes the role operator.`, {
    hint: 'Use a key with that role, or replay the messages one by one.',
  });

export const cancelNotAllowed = (): AppError =>
  new NonRetriableError('forbidden', 'To cancel more than an own plan that has not started takes the role operator.', {
    hint: 'Use a key with that role.',
  });

/** Why one dead letter can't be replayed now. */
export function notReleased(code: 'behind' | 'edit-pending'): AppError {
  const detail = SKIPPED[code] as string;
  return code === 'behind'
    ? new NonRetriableError('replay-behind', detail, {
        hint: 'Replay or discard the earlier one; what it holds follows by itself.',
      })
    : new NonRetriableError('edit-pending', detail, { hint: 'Have the edit approved or refused first.' });
}

const PLAN_AGAIN = 'Plan again and start what that plan says.';
