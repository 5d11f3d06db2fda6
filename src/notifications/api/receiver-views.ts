import { MASK } from '../../contracts';
import type { Database } from '../../platform/database';
import { type Page, timeOf } from '../../platform/http';
import type { Caller } from '../../staff';
import type { Channel } from '../domain/notification';
import { type Receiver, RECEIVER_ID_PATTERN } from '../domain/receiver';
import type { Receivers } from '../receivers/receivers';
import type { ReceiverDto } from './receiver.dto';
import { receiverUnknown } from './refusals';

interface SecretRow {
  receiver: string;
  number: number;
  createdAt: Date;
  validUntil: Date | null;
}
interface BadRow {
  receiver: string;
  channel: Channel;
  code: string;
  detail: string;
  since: Date;
}
interface WebhookRow {
  receiver: string;
  disabledAt: Date | null;
  disabledReason: string | null;
}

/** Receivers belong to no partner: who is confined to some partners knows none. */
export const knowsReceivers = ({ partners }: Pick<Caller, 'partners'>): boolean => partners === null;

const RECEIVER_ID = new RegExp(RECEIVER_ID_PATTERN);
export const isReceiverId = (id: string): boolean => RECEIVER_ID.test(id);

/** What can be no id names no receiver. */
export const mayKnow = (by: Pick<Caller, 'partners'>, id: string): boolean => knowsReceivers(by) && isReceiverId(id);

/** Receivers as people see them. */
export class ReceiverViews {
  constructor(
    private readonly database: Database,
    private readonly receivers: Receivers,
  ) {}

  /** By id. Throws `cursor-invalid`. */
  async page(by: Pick<Caller, 'partners'>, limit: number, cursor?: string): Promise<Page<ReceiverDto>> {
    if (!knowsReceivers(by)) return { items: [], nextCursor: null };
    const { items, nextCursor } = await this.receivers.page(limit, cursor);
    return { items: (await this.shown(items)).map(masked), nextCursor };
  }

  /** Throws `receiver-unknown`. */
  async of(id: string, by: Pick<Caller, 'partners'>): Promise<ReceiverDto> {
    return masked(await this.unmasked(id, by));
  }

  /** With its addresses. Nobody may see it before it is booked. Throws `receiver-unknown`. */
  async unmasked(id: string, by: Pick<Caller, 'partners'>): Promise<ReceiverDto> {
    const receiver = mayKnow(by, id) ? await this.receivers.find(id) : undefined;
    const [shown] = receiver ? await this.shown([receiver]) : [];
    if (!shown) throw receiverUnknown();
    return shown;
  }

  private async shown(receivers: readonly Receiver[]): Promise<ReceiverDto[]> {
    const values = { ids: receivers.map(({ id }) => id) };
    const [secrets, bad, webhooks] = await Promise.all([
      this.database.query<SecretRow>(
        `SELECT receiver, number, created_at AS "createdAt", valid_until AS "validUntil" FROM webhook_secret
         WHERE receiver = ANY(:ids::text[]) AND (valid_until IS NULL OR valid_until > now()) ORDER BY number DESC`,
        values,
      ),
      this.database.query<BadRow>(
        `SELECT r.id AS receiver, b.channel, b.code, b.detail, b.since FROM notification_receiver r
         JOIN notification_bad_address b ON (b.channel, b.address) IN (('email', r.email), ('sms', r.phone), ('webhook', r.webhook_url))
         WHERE r.id = ANY(:ids::text[]) ORDER BY b.channel`,
        values,
      ),
      this.database.query<WebhookRow>(
        `SELECT r.id AS receiver, p.disabled_at AS "disabledAt", p.disabled_reason AS "disabledReason"
         FROM notification_receiver r LEFT JOIN notification_provider p ON p.name = 'webhook/' || r.id
         WHERE r.id = ANY(:ids::text[]) AND r.webhook_url IS NOT NULL`,
        values,
      ),
    ]);
    const of = <Row extends { receiver: string }>(rows: Row[], id: string) => rows.filter((row) => row.receiver === id);
    return receivers.map(({ id, ...receiver }) => {
      const [webhook] = of(webhooks, id);
      return {
        ...{ id, ...receiver },
        subscriptions: receiver.subscriptions.map(({ kind, channels, partners }) => ({
          ...{ kind, channels: [...channels], partners: partners && [...partners] },
        })),
        webhook: webhook ? webhookOf(webhook, of(secrets, id)) : null,
        badAddresses: of(bad, id).map(({ channel, code, detail, since }) => ({
          ...{ channel, code, detail, since: since.toISOString() },
        })),
        createdAt: receiver.createdAt.toISOString(),
        updatedAt: receiver.updatedAt.toISOString(),
      };
    });
  }
}

const webhookOf = ({ disabledAt, disabledReason }: WebhookRow, secrets: readonly SecretRow[]) => ({
  disabledAt: timeOf(disabledAt),
  disabledReason,
  secrets: secrets.map(({ number, createdAt, validUntil }) => ({
    ...{ number, createdAt: createdAt.toISOString(), validUntil: timeOf(validUntil) },
  })),
});

/** Its addresses are personal data, and a webhook's URL may hold what only its owner should know. */
export const masked = (receiver: ReceiverDto): ReceiverDto => ({
  ...receiver,
  email: receiver.email && MASK,
  phone: receiver.phone && MASK,
  webhookUrl: receiver.webhookUrl && MASK,
});
