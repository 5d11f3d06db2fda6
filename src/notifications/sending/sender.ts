import { backoffMs, retryForever } from '../../platform/polling';
import { messageOf } from '../../platform/errors';
import type { Logger } from '../../platform/telemetry';
import type { Letter, Provider } from '../channels/provider';
import { type Begun, judge, plan, type Verdict } from '../domain/crash-policy';
import type { NotificationKind } from '../domain/kind';
import type { ClaimedNotification, Content } from '../domain/notification';
import type { Attempts, BegunAttempt } from './attempts';
import type { Report } from './breaker';
import type { Claimed, Claims } from './claims';
import { Deadline } from './deadline';
import { badAddress, forsaken, situationOf } from './situation';
import { referenceOf, reportOf, saidBy, withoutPersonalData } from './heard';
import type { NotificationObserver } from './observer';
import { call } from './provider-call';

export interface SenderParts {
  claims: Claims;
  attempts: Attempts;
  /** What is sent; throws where a template is broken. */
  render: (notification: ClaimedNotification, kind: NotificationKind) => Content | Promise<Content>;
  /** Name of this process in the history of what was tried. */
  notifier: string;
  leaseMs: number;
  log: Logger;
  observer: NotificationObserver;
}

/** A claimed notification with all that is needed to deal with it. */
export interface Assignment {
  claimed: Claimed;
  kind: NotificationKind;
  provider: Provider;
  /** See `Catch`. */
  trial: Date | null;
  /** The database's time, carried on by our clock that never jumps. */
  now: () => Date;
}

const SAVING = { initialMs: 250, maxMs: 5_000 };

/** Deals with one claimed notification: begin, call, settle. Total: whatever happens, somebody can go on from what the database knows. */
export class Sender {
  constructor(private readonly parts: SenderParts) {}

  /** False: the provider was not asked. */
  async deal(assignment: Assignment): Promise<boolean> {
    const { claimed, trial } = assignment;
    try {
      const asked = await this.step(assignment);
      if (!asked && trial) await this.parts.claims.endTrial(claimed.provider, trial);
      return asked;
    } catch (error) {
      // Nothing is lost: its lease ends, and whoever finds it goes on from there.
      this.parts.log.error(
        { ...fieldsOf(claimed), code: 'notification-unsettled', reason: messageOf(error) },
        'a notification could not be dealt with; it is looked at again when its lease is over',
      );
      return true;
    }
  }

  /** False: the provider was not asked. */
  private async step(assignment: Assignment, at = assignment.now()): Promise<boolean> {
    const { claimed, provider } = assignment;
    if (claimed.forsaken) {
      await this.conclude(assignment, forsaken(claimed.forsaken, claimed));
      return false;
    }
    const step = plan(situationOf(assignment, claimed, this.parts.leaseMs), at);
    if (step.do === 'write') {
      await this.conclude(assignment, step.verdict);
      return false;
    }
    const content = await this.contentOf(assignment);
    if (!content) return false;
    const deadline = new Deadline();
    const begun = await this.parts.attempts.begin({
      ...{ id: claimed.id, claim: claimed.claim, action: step.do, content },
      ...{ timeoutMs: provider.timeoutMs, leaseMs: this.parts.leaseMs, notifier: this.parts.notifier },
    });
    if (typeof begun !== 'string') {
      deadline.set(begun.leftMs);
      await this.attempt(assignment, step.do, begun, deadline);
      return true;
    }
    // Expired meanwhile: what is expired is never planned to be sent.
    if (begun === 'expired') return this.step(assignment, claimed.expiresAt);
    if (begun === 'lost') await this.parts.claims.giveBack(claimed);
    else await this.conclude(assignment, badAddress(claimed));
    return false;
  }

  private async contentOf({ claimed, kind, ...rest }: Assignment): Promise<Content | undefined> {
    try {
      return claimed.content ?? (await this.parts.render(claimed, kind));
    } catch (error) {
      const { doubtful } = claimed;
      const verdict: Verdict = { state: 'failed', doubtful, code: 'template-failed', detail: messageOf(error) };
      await this.conclude({ claimed, kind, ...rest }, withoutPersonalData(verdict, claimed, kind));
      return undefined;
    }
  }

  private async conclude({ claimed }: Assignment, verdict: Verdict): Promise<void> {
    if (await this.parts.attempts.conclude(claimed, verdict)) this.tell(claimed, verdict);
  }

  private async attempt(
    assignment: Assignment,
    action: 'send' | 'look-up',
    attempt: BegunAttempt,
    deadline: Deadline,
  ): Promise<void> {
    const { claimed, kind, provider, trial, now } = assignment;
    const letter: Letter = { ...claimed, ...attempt, attempts: attempt.number };
    const outcome = await call(provider, action, letter, deadline);
    const counted = { ...claimed, attempts: attempt.number, firstBegunAt: attempt.firstBegunAt };
    const begun: Begun = {
      ...{ action, begunAt: attempt.begunAt, conclusiveAt: attempt.conclusiveAt, wasDoubtful: claimed.doubtful },
      pauseMs: backoffMs(kind.retry, attempt.number),
    };
    const verdict = withoutPersonalData(
      judge(situationOf(assignment, counted, this.parts.leaseMs), begun, outcome, now()),
      claimed,
      kind,
    );
    const said = withoutPersonalData(saidBy(outcome), claimed, kind);
    const ending = {
      ...{ number: attempt.number, outcome: outcome.kind, reference: referenceOf(outcome), ...said },
      badAddress: outcome.kind === 'refused' && 'badAddress' in outcome && outcome.badAddress === true,
    };
    const about: Report = { provider: claimed.provider, trial, ...said, ...reportOf(outcome, trial !== null) };
    const written = await retryForever(() => this.parts.attempts.settle(claimed, ending, verdict, about), {
      policy: SAVING,
      // Behind that it is in doubt anyway.
      signal: AbortSignal.timeout(this.parts.leaseMs),
      onFailure: (error, tries) => {
        if (tries === 1)
          this.parts.log.warn(
            { ...fieldsOf(claimed), reason: messageOf(error) },
            'the end of an attempt could not be written; tried again',
          );
      },
    });
    if (written === 'lost')
      this.parts.log.warn(
        { ...fieldsOf(claimed), code: outcome.kind },
        'an attempt ended after its lease, and changes nothing',
      );
    else this.tell(counted, verdict);
  }

  private tell(notification: ClaimedNotification, verdict: Verdict): void {
    const { state, code, detail } = verdict;
    const result = state !== 'pending' ? state : verdict.doubtful ? 'in-doubt' : 'retried';
    this.parts.observer.settled(notification.kind, notification.channel, result);
    const fields = { ...fieldsOf(notification), state, code, detail };
    if (state === 'sent' || state === 'pending') this.parts.log.debug(fields, 'a notification was dealt with');
    else this.parts.log.warn(fields, 'a notification was not sent, or may not have been');
  }
}

const fieldsOf = ({ id, kind, channel, provider, partner, orderNumber, attempts }: ClaimedNotification) => ({
  ...{ notification: id, kind, channel, provider, attempt: attempts },
  ...(partner !== null && { partner }),
  ...(orderNumber !== null && { order: orderNumber }),
});
