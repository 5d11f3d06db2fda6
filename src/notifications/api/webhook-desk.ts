import type { Clock } from '../../platform/clock';
import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import { DEFAULT_VALID_HOURS, type WebhookSecrets } from '../channels/webhook/webhook-secrets';
import type { WebhookDisabling } from '../channels/webhook/webhook-disabling';
import type { Receivers } from '../receivers/receivers';
import type { RotatedSecretDto } from './receiver.dto';
import { objectOf } from './receiver-desk';
import { mayKnow } from './receiver-views';
import { receiverUnknown, webhookAbsent } from './refusals';

/** What staff do about a receiver's webhook. */
export class WebhookDesk {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly receivers: Receivers,
    private readonly secrets: WebhookSecrets,
    private readonly disabling: WebhookDisabling,
  ) {}

  /** Throws `receiver-unknown`, `webhook-absent`, `webhook-secrets-full`, `webhooks-unconfigured`. */
  rotate(id: string, validHours: number = DEFAULT_VALID_HOURS, by: Caller): Promise<RotatedSecretDto> {
    return this.change(id, by, async (tx, now) => {
      const { number, secret } = await this.secrets.rotate(tx, id, { validHours }, now);
      const [before] = await query<{ until: Date }>(
        tx,
        `SELECT valid_until AS until FROM webhook_secret WHERE receiver = :id AND number < :number ORDER BY number DESC LIMIT 1`,
        { id, number },
      );
      const oldValidUntil = before?.until.toISOString() ?? null;
      const action = 'notification-receiver.rotate-secret';
      await audit(tx, { by, action, object: objectOf(id), detail: { number, oldValidUntil } }, now);
      return { number, secret, oldValidUntil };
    });
  }

  /** Throws `receiver-unknown`, `webhook-absent`, `webhook-not-disabled`. */
  enable(id: string, reason: string, by: Caller): Promise<void> {
    return this.change(id, by, async (tx, now) => {
      if (!(await this.disabling.enable(tx, id)))
        throw new NonRetriableError('webhook-not-disabled', `The webhook of ${id} is not disabled.`);
      await audit(tx, { by, action: 'notification-receiver.enable-webhook', object: objectOf(id), reason }, now);
    });
  }

  /** Works on a receiver that has a webhook, and keeps it as it is until the end of the transaction. */
  private change<T>(id: string, by: Caller, work: (tx: Tx, now: Date) => Promise<T>): Promise<T> {
    if (!mayKnow(by, id)) return Promise.reject(receiverUnknown());
    return this.database.transaction(async (tx) => {
      const receiver = await this.receivers.locked(tx, id);
      if (!receiver) throw receiverUnknown();
      if (receiver.webhookUrl === null) throw webhookAbsent(id);
      return work(tx, this.clock.now());
    });
  }
}
