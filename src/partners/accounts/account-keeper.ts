import type { SecurityAdmin } from '../../messaging/kafka';
import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import { type Database, ifFree, isDatabaseOutage } from '../../platform/database';
import { messageOf } from '../../platform/errors';
import { BackgroundLoop, regularly, sleep } from '../../platform/polling';
import type { GaugeBoard, Logger } from '../../platform/telemetry';
import type { Caller } from '../../staff';
import { type Account, WARNED_BEFORE_MS, warningOf } from './account';
import { liveAccounts } from './accounts';
import { noteSeen } from './evidence';
import type { Retirement } from './retirement';
import { canAdminister, withAccounts } from './with-accounts';

const EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
const STOP_MS = 1000;

const SAID: Readonly<Record<NonNullable<ReturnType<typeof warningOf>>, (partner: string) => string>> = {
  'expires-soon': (partner) =>
    `the credentials of a partner expire soon: "parley partner rotate ${partner}" makes others beside them`,
  expired: (partner) =>
    `the credentials of a partner have expired; they work on: replace them with "parley partner rotate ${partner}"`,
  overdue: (partner) =>
    `an account that was replaced should have ended and still opens the broker: run "parley partner retire ${partner}", or give a process KAFKA_ADMIN_USERNAME`,
};

/**
 * Looks after accounts with time: shows and says what expires; and, in one process of those that have the administrator's account, ends what is due and
 * notes who was seen.
 */
export class AccountKeeper extends BackgroundLoop {
  private known: readonly Account[] = [];

  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly clock: Clock,
    board: GaugeBoard,
    private readonly log: Logger,
  ) {
    super();
    board.gauges(
      'parley_partner_credential_expires_timestamp_seconds',
      'When the credentials that new clients of a partner get should be replaced. They work on after that.',
      ['partner', 'account'],
      () =>
        this.known.flatMap(({ partner, username: account, state, validUntil }) =>
          state === 'active' && validUntil
            ? [{ labels: { partner, account }, value: validUntil.getTime() / 1000 }]
            : [],
        ),
    );
    board.gauges(
      'parley_partner_accounts_overdue',
      'Accounts that were replaced, whose end has passed, and that the broker still knows.',
      ['partner'],
      () => this.overdue(),
    );
  }

  override async stop(): Promise<void> {
    // A silent broker must not hold up the end: each step can be done again.
    const ended = new AbortController();
    await Promise.race([super.stop(), sleep(STOP_MS, ended.signal)]);
    ended.abort();
  }

  /** Once: rejects when the database or the broker is away; what could be done is done. */
  async look(): Promise<void> {
    this.known = await liveAccounts(this.database);
    await this.warn();
    if (!canAdminister(this.config) || this.known.length === 0) return;
    const { database, config, clock } = this;
    await ifFree(database, 'account-keeper', () =>
      withAccounts({ database, config, clock }, ({ security, retirement }) => this.keep(security, retirement)),
    );
    this.known = await liveAccounts(this.database);
  }

  private async keep(security: SecurityAdmin, retirement: Retirement): Promise<void> {
    const { retired, failed } = await retirement.retireDue(this.self);
    for (const account of retired) this.log.info({ account }, 'an account that was replaced has ended');
    await noteSeen(this.database, this.known, await security.membersOf('partner.'), this.clock.now());
    if (failed.length === 0) return;
    throw new Error(failed.map(({ username, reason }) => `${username}: ${reason}`).join('; '));
  }

  /** Once a day and account, by whichever process comes first. */
  private async warn(): Promise<void> {
    const now = this.clock.now();
    const ago = (ms: number) => new Date(now.getTime() - ms);
    const due = await this.database.statement<Pick<Account, 'username'>>(
      `UPDATE partner_account SET warned_at = :now
       WHERE ((state = 'active' AND valid_until <= :soon) OR (state = 'retiring' AND valid_until <= :late))
         AND (warned_at IS NULL OR warned_at <= :yesterday) RETURNING username`,
      // What has just come to its end, the next pass will do.
      { now, soon: ago(-WARNED_BEFORE_MS), late: ago(10 * EVERY_MS), yesterday: ago(DAY_MS) },
    );
    for (const { username } of due) {
      const account = this.known.find((one) => one.username === username);
      const warning = account && warningOf(account, now);
      if (!warning) continue;
      const { partner, validUntil } = account;
      const line = { partner, account: username, valid_until: validUntil?.toISOString(), code: `account-${warning}` };
      this.log[warning === 'expires-soon' ? 'warn' : 'error'](line, SAID[warning](partner));
    }
  }

  private overdue(): { labels: { partner: string }; value: number }[] {
    const now = this.clock.now();
    return [...Map.groupBy(this.known, ({ partner }) => partner)].map(([partner, accounts]) => ({
      labels: { partner },
      value: accounts.filter((account) => warningOf(account, now) === 'overdue').length,
    }));
  }

  private get self(): Caller {
    const { instanceId } = this.config;
    return { id: 'parley', name: 'Parley', role: 'admin', areas: null, partners: null, origin: instanceId };
  }

  protected run(signal: AbortSignal): Promise<void> {
    return regularly(() => this.look(), {
      everyMs: EVERY_MS,
      signal,
      onFailure: (error) => {
        // That the database is away, or not there yet, is said by whoever watches it.
        if (isDatabaseOutage(error)) return;
        const reason = messageOf(error);
        this.log.warn({ reason }, 'accounts of partners could not be looked after; tried again each minute');
      },
    });
  }
}
