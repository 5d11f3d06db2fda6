import type { Clock } from '../platform/clock';
import type { Logger } from '../platform/telemetry';

/** Lines a minute: enough to see who tries, too few to fill a disk with. */
const LINES = 10;
const MINUTE_MS = 60_000;

/** Refused logins in the log, one line each up to a number a minute; what is left out is counted in the next line. */
export class LoginLog {
  private minute = 0;
  private lines = 0;
  private omitted = 0;

  constructor(
    private readonly log: Logger,
    private readonly clock: Clock,
  ) {}

  /** `reason` is ours and quotes nothing that was sent. */
  refused(origin: string, reason: string, trace: string): void {
    const minute = Math.floor(this.clock.now().getTime() / MINUTE_MS);
    if (minute !== this.minute) [this.minute, this.lines] = [minute, 0];
    if (this.lines >= LINES) {
      this.omitted++;
      return;
    }
    this.lines++;
    const omitted = this.omitted > 0 ? { omitted: this.omitted } : {};
    this.omitted = 0;
    this.log.warn({ code: 'unauthenticated', origin, reason, trace, ...omitted }, 'login refused');
  }
}
