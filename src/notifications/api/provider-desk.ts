import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { decodeCursor, type Page, pageOf } from '../../platform/http';
import { audit, type Caller } from '../../staff';
import type { Channel } from '../domain/notification';
import { isConfigured, perSecondOf } from '../channels/installation';
import { NotificationProviderDto } from './provider.dto';
import { providerUnknown } from './refusals';

/** A provider as the database knows it; `now` by its clock, as all times of breakers. */
export interface ProviderRow {
  name: string;
  channel: Channel;
  receiver: string | null;
  failures: number;
  failingSince: Date | null;
  openUntil: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  lastSuccessAt: Date | null;
  lastCode: string | null;
  lastDetail: string | null;
  waiting: number;
  oldestWaitingAt: Date | null;
  unknown: number;
  now: Date;
}

const NAME = /^(email|sms|webhook\/[a-z][a-z0-9-]{0,63})$/;

/** Each count reads one partial index; those of webhooks name their receivers, which belong to no partner. */
const PROVIDERS = `
  WITH known AS (
    SELECT name FROM notification_provider UNION SELECT unnest(ARRAY['email', 'sms'])
    UNION SELECT 'webhook/' || id FROM notification_receiver WHERE webhook_url IS NOT NULL
  ), page AS (
    SELECT name FROM known WHERE (:name::text IS NULL OR name = :name) AND name COLLATE "C" > :after
      AND (:scope::text[] IS NULL OR name NOT LIKE 'webhook/%')
    ORDER BY name COLLATE "C" LIMIT :rows
  )
  SELECT name, split_part(name, '/', 1) AS channel, nullif(split_part(name, '/', 2), '') AS receiver, coalesce(p.failures, 0) AS failures,
    p.failing_since AS "failingSince", p.open_until AS "openUntil", p.disabled_at AS "disabledAt", p.disabled_reason AS "disabledReason",
    p.last_success_at AS "lastSuccessAt", p.last_code AS "lastCode", p.last_detail AS "lastDetail",
    pending.count + sending.count AS waiting, least(pending.oldest, sending.oldest) AS "oldestWaitingAt", unknown.count AS unknown, now()
  FROM page LEFT JOIN notification_provider p USING (name),
    LATERAL (SELECT count(*)::int, min(created_at) AS oldest FROM notification n WHERE n.provider = page.name AND n.state = 'pending'
      AND (:scope::text[] IS NULL OR n.partner = ANY(:scope))) pending,
    LATERAL (SELECT count(*)::int, min(created_at) AS oldest FROM notification n WHERE n.provider = page.name AND n.state = 'sending' AND n.lease_until IS NOT NULL
      AND (:scope::text[] IS NULL OR n.partner = ANY(:scope))) sending,
    LATERAL (SELECT count(*)::int FROM notification n WHERE n.provider = page.name AND n.state = 'unknown'
      AND (:scope::text[] IS NULL OR n.partner = ANY(:scope))) unknown
  ORDER BY name COLLATE "C"`;

type Scope = Pick<Caller, 'partners'>;

/** Who sends, for people. */
export class ProviderDesk {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /** By name. Throws `cursor-invalid`. */
  async page({ partners }: Scope, limit: number, cursor?: string): Promise<Page<NotificationProviderDto>> {
    const [after = ''] = cursor === undefined ? [] : decodeCursor(cursor, [NAME]);
    const values = { name: null, after, scope: partners, rows: limit + 1 };
    const found = await this.database.query<ProviderRow>(PROVIDERS, values);
    const { items, nextCursor } = pageOf(found, limit, ({ name }) => [name]);
    return { items: items.map((row) => this.shown(row)), nextCursor };
  }

  /**
   * Has it tried at once: its breaker lets one notification through as a trial, and the first that waits for its next attempt is due. One whose
   * last attempt is in doubt keeps its time, before which a look-up could say too early that nothing came. Throws `notification-provider-unknown`,
   * `notification-provider-shared`, `notification-provider-disabled`.
   */
  retry(name: string, reason: string | undefined, by: Caller): Promise<NotificationProviderDto> {
    if (!NAME.test(name)) return Promise.reject(providerUnknown());
    return this.database.transaction(async (tx) => {
      const before = await this.find(tx, name, by);
      if (by.partners !== null) throw shared(name);
      if (before.disabledAt !== null) throw disabled(before);
      await query(
        tx,
        `UPDATE notification_provider SET open_until = date_trunc('milliseconds', now()) WHERE name = :name AND open_until > now()`,
        {
          name,
        },
      );
      await query(
        tx,
        `UPDATE notification SET next_attempt_at = now(), version = version + 1 WHERE id = (
           SELECT id FROM notification WHERE provider = :name AND state = 'pending' AND attempts > 0 AND NOT doubtful
           ORDER BY urgency, next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED) AND next_attempt_at > now()`,
        { name },
      );
      const { openUntil, failures, lastCode } = before;
      const detail = { openUntil: openUntil?.toISOString() ?? null, failures, lastCode };
      const object = `notification-provider/${name}`;
      await audit(tx, { by, action: 'notification-provider.retry', object, reason, detail }, this.clock.now());
      return this.shown(await this.find(tx, name, by));
    });
  }

  private async find(tx: Tx, name: string, { partners }: Scope): Promise<ProviderRow> {
    const [row] = await query<ProviderRow>(tx, PROVIDERS, { name, after: '', scope: partners, rows: 1 });
    if (!row) throw providerUnknown();
    return row;
  }

  private shown(row: ProviderRow): NotificationProviderDto {
    const { channel } = row;
    const configured = isConfigured(this.config, channel);
    return NotificationProviderDto.of(row, configured, perSecondOf(this.config, channel));
  }
}

const shared = (name: string): NonRetriableError =>
  new NonRetriableError(
    'notification-provider-shared',
    `${name} serves all partners, and this key is confined to some.`,
  );

const disabled = ({ name, disabledReason, receiver }: ProviderRow): NonRetriableError =>
  new NonRetriableError(
    'notification-provider-disabled',
    `${name} is disabled: ${disabledReason ?? 'no reason recorded'}`,
    {
      hint: `When that is mended: POST /v1/notification-receivers/${receiver}/webhook-enabling.`,
    },
  );
