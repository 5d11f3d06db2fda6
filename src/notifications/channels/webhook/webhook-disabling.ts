import type { Config } from '../../../platform/config';
import { query, type Tx } from '../../../platform/database';
import { webhookDisabled } from '../../kinds/webhook-disabled';
import { providerOf } from '../../domain/provider-name';
import type { NotificationEvent } from '../../domain/notification';
import type { Notifications } from '../../notifications';

/** Fewer failures disable nothing: one bad hour, and another one days later with nothing to send between, are no proof. */
const LEAST_FAILURES = 5;

/** A webhook, and what was found out about it. */
export interface Finding {
  receiver: string;
  /** That was asked: what is found out about it says nothing of the one that was given since. */
  url: string;
  /** A sentence for people, without personal data. */
  reason: string;
}

interface Receiver {
  id: string;
  name: string;
  email: string | null;
}

/** Takes a webhook that is dead out of use, says so, and lets staff bring it back. What waits for it goes on waiting until it expires. */
export class WebhookDisabling {
  constructor(
    private readonly notifications: Pick<Notifications, 'raise'>,
    private readonly config: Pick<Config, 'webhookDisableAfterHours'>,
  ) {}

  /**
   * Disables it, and raises the notice in the same transaction: to whoever subscribed to that, and to the receiver's own e-mail address.
   * False: it was disabled before, or has another URL now.
   */
  disable(tx: Tx, finding: Finding, now: Date): Promise<boolean> {
    return this.disableSince(tx, finding, { until: null, failures: 0 }, now);
  }

  /**
   * {@link disable}, if it has failed for `WEBHOOK_DISABLE_AFTER_HOURS` without a success between. To be called when it has failed once
   * more: how long ago its first failure was says nothing about a webhook that nothing was sent to since.
   */
  disableIfFailing(tx: Tx, finding: Finding, now: Date): Promise<boolean> {
    const until = new Date(now.getTime() - this.config.webhookDisableAfterHours * 3_600_000);
    return this.disableSince(tx, finding, { until, failures: LEAST_FAILURES }, now);
  }

  /** Closes its breaker, too: what waits for it flows. False: it was not disabled. */
  async enable(tx: Tx, receiver: string): Promise<boolean> {
    const enabled = await query(
      tx,
      `UPDATE notification_provider
       SET disabled_at = NULL, disabled_reason = NULL, failures = 0, failing_since = NULL, open_until = NULL
       WHERE name = :name AND disabled_at IS NOT NULL RETURNING name`,
      { name: providerOf('webhook', receiver) },
    );
    return enabled.length > 0;
  }

  /** @param least the first failure in a row is no younger than `until` (null: there may be none), and there were so many */
  private async disableSince(
    tx: Tx,
    { receiver: id, url, reason }: Finding,
    least: { until: Date | null; failures: number },
    now: Date,
  ): Promise<boolean> {
    // Locked, so that the URL stays what it is: whoever gives another one takes this lock before it makes the provider's row anew.
    const [receiver] = await query<Receiver>(
      tx,
      `SELECT id, name, email FROM notification_receiver WHERE id = :id AND webhook_url = :url FOR SHARE`,
      { id, url },
    );
    if (!receiver) return false;
    const name = providerOf('webhook', id);
    const [disabled] = await query<{ since: Date | null; waiting: number }>(
      tx,
      `UPDATE notification_provider SET disabled_at = :now, disabled_reason = :reason
       WHERE name = :name AND disabled_at IS NULL AND failures >= :failures
         AND (:until::timestamptz IS NULL OR failing_since <= :until::timestamptz)
       RETURNING failing_since AS since,
         (SELECT count(*)::int FROM notification WHERE provider = :name AND state = 'pending') AS waiting`,
      { name, now, reason, ...least },
    );
    if (!disabled) return false;
    await this.notifications.raise(tx, noticesOf(receiver, { ...disabled, reason, now }), now);
    return true;
  }
}

/** To the receiver itself under the same event id: it hears of it once, also where it subscribed. */
function noticesOf(
  { id, name, email }: Receiver,
  { since, waiting, reason, now }: { since: Date | null; waiting: number; reason: string; now: Date },
): NotificationEvent[] {
  const notice: NotificationEvent = {
    id: `webhook-disabled/${id}/${now.toISOString()}`,
    kind: webhookDisabled.name,
    at: now,
    data: {
      receiver: { id, name },
      at: now.toISOString(),
      since: (since ?? now).toISOString(),
      reason,
      count: waiting,
    },
  };
  return email === null ? [notice] : [notice, { ...notice, to: { receiver: id, channel: 'email' } }];
}
