import type { Clock } from '../platform/clock';
import { LineLimit, type Logger } from '../platform/telemetry';

/** Lines a minute: enough to see who tries, too few to fill a disk with. */
const LINES = 10;

/** Refused logins in the log, one line each up to a number a minute; what is left out is counted in the next line. */
export class LoginLog {
  private readonly limit = new LineLimit(LINES);

  constructor(
    private readonly log: Logger,
    private readonly clock: Clock,
  ) {}

  /** `reason` is ours and quotes nothing that was sent. */
  refused(origin: string, reason: string, trace: string): void {
    const omitted = this.limit.next(this.clock.now());
    if (omitted) this.log.warn({ code: 'unauthenticated', origin, reason, trace, ...omitted }, 'login refused');
  }
}
