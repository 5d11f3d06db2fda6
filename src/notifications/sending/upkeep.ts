import { messageOf } from '../../platform/errors';
import { regularly } from '../../platform/polling';
import type { Logger } from '../../platform/telemetry';
import type { Claims } from './claims';
import type { Expiry } from './expiry';
import type { NotificationObserver } from './observer';

const BATCH = 500;
const PAUSE_MS = { least: 200, most: 5_000 };

/** Finds what fell out of somebody's hands, or has waited for nothing. Any process does it for all. */
export class Upkeep {
  constructor(
    private readonly claims: Claims,
    private readonly expiry: Expiry,
    private readonly observer: NotificationObserver,
    private readonly log: Logger,
    private readonly leaseMs: number,
  ) {}

  /** Until the signal aborts; without the database the next pass tries again. */
  run(signal: AbortSignal): Promise<void> {
    return regularly(() => this.pass(), {
      everyMs: Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, this.leaseMs / 10)),
      signal,
      onFailure: (error) =>
        this.log.debug({ reason: messageOf(error) }, 'lapsed and expired notifications could not be looked for'),
    });
  }

  async pass(): Promise<void> {
    for (;;) {
      const { doubtful, unbegun } = await this.claims.recover(BATCH);
      if (doubtful > 0) this.observer.lapsed(true, doubtful);
      if (unbegun > 0) this.observer.lapsed(false, unbegun);
      if (doubtful + unbegun > 0)
        this.log.warn(
          { doubtful, unbegun, code: 'lease-lapsed' },
          'whoever had these notifications has not been heard of; those that had been begun are in doubt',
        );
      if (doubtful + unbegun < BATCH) break;
    }
    while ((await this.expiry.pass(BATCH)) === BATCH);
  }
}
