import type { Config } from '../platform/config';
import { AppError } from '../platform/errors';
import { addressName, TokenBuckets } from '../platform/http';
import type { LoginLog } from './login-log';

type Limits = Pick<Config, 'rateLimitPerSecond' | 'rateLimitPerAddress' | 'loginFailuresPerMinute'>;

/**
 * How often somebody may call. Each method throws `rate-limited` for what is too much. Counted in this process: it is a protection of it, no
 * quota; with several processes each allows as much.
 */
export class CallLimits {
  private readonly addresses: TokenBuckets;
  private readonly callers: TokenBuckets;
  private readonly failures: TokenBuckets;

  constructor(
    limits: Limits,
    private readonly logins: LoginLog,
  ) {
    this.addresses = new TokenBuckets(limits.rateLimitPerAddress);
    this.callers = new TokenBuckets(limits.rateLimitPerSecond);
    this.failures = new TokenBuckets(limits.loginFailuresPerMinute / 60, limits.loginFailuresPerMinute);
  }

  /** Before anybody looks at what was sent. */
  arrived(address: string): void {
    refuseAfter(this.addresses.take(addressName(address)), 'from this address');
  }

  /** A key or token was refused. Only refusals count and only they are limited: an address is often a proxy's, with many behind it. */
  loginRefused(address: string, reason: string, trace: string): void {
    this.logins.refused(address, reason, trace);
    refuseAfter(this.failures.take(addressName(address)), 'from this address with keys or tokens that are refused');
  }

  admitted(caller: string): void {
    refuseAfter(this.callers.take(caller), 'by this caller');
  }
}

function refuseAfter(seconds: number | undefined, whose: string): void {
  if (seconds === undefined) return;
  throw new AppError('rate-limited', `There are too many requests ${whose}.`, {
    retryAfter: seconds,
    hint: `Go on after ${seconds} s, slower.`,
  });
}
