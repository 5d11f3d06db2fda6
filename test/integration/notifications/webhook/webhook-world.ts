import { randomBytes, randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { Letter } from '../../../../src/notifications/channels/provider';
import { WebhookDisabling } from '../../../../src/notifications/channels/webhook/webhook-disabling';
import { WebhookProvider } from '../../../../src/notifications/channels/webhook/webhook-provider';
import { WebhookSecrets } from '../../../../src/notifications/channels/webhook/webhook-secrets';
import { Notifications } from '../../../../src/notifications';
import { systemClock } from '../../../../src/platform/clock';
import { Database, dataSourceOptions } from '../../../../src/platform/database';
import { testConfig } from '../../../support/config';
import { freshDatabase } from '../../../support/database';
import { eventually } from '../../../support/eventually';
import { subscribe } from '../../../support/receivers';
import { countLockWaiters } from '../../../support/lock-waiters';

export const newKey = (): string => randomBytes(32).toString('base64');

export interface ProviderRow {
  disabledAt: Date | null;
  disabledReason: string | null;
  failures: number;
  failingSince: Date | null;
  openUntil: Date | null;
}

/** A migrated database with what sends webhooks from it; whatever listens on this machine may be reached. */
export class WebhookWorld {
  /** What the process has in its environment; a test exchanges keys while it runs. */
  readonly config = {
    webhookSecretKeys: newKey(),
    webhookPerSecond: 20,
    webhookAllowedNetworks: ['127.0.0.1'],
    webhookDisableAfterHours: 120,
  };
  readonly secrets: WebhookSecrets;
  readonly disabling: WebhookDisabling;

  private constructor(
    private readonly dataSource: DataSource,
    readonly database: Database,
  ) {
    this.secrets = new WebhookSecrets(database, this.config);
    this.disabling = new WebhookDisabling(new Notifications(database), this.config);
  }

  static async open(): Promise<WebhookWorld> {
    const config = testConfig(await freshDatabase());
    const dataSource = await new DataSource(dataSourceOptions(config, {})).initialize();
    return new WebhookWorld(dataSource, new Database(dataSource));
  }

  close(): Promise<void> {
    return this.dataSource.destroy();
  }

  provider(timeoutMs = 30_000): WebhookProvider {
    return new WebhookProvider(this.database, this.secrets, this.disabling, this.config, systemClock, { timeoutMs });
  }

  /** A receiver with a webhook there and its provider's row; resolves with its first secret. */
  async register(id: string, webhookUrl: string, kinds: string[] = []): Promise<string> {
    await subscribe(this.database, { id, kinds, webhookUrl });
    await this.database.query(
      `WITH made AS (INSERT INTO notification_provider (name, channel) VALUES (:name, 'webhook')) SELECT`,
      { name: `webhook/${id}` },
    );
    const made = await this.database.transaction((tx) => this.secrets.first(tx, id, new Date()));
    if (!made) throw new Error('the receiver had a secret');
    return made.secret;
  }

  rotate(receiver: string, validHours?: number, now = new Date()) {
    return this.database.transaction((tx) => this.secrets.rotate(tx, receiver, { validHours }, now));
  }

  async row(receiver: string): Promise<ProviderRow> {
    const [row] = await this.database.query<ProviderRow>(
      `SELECT disabled_at AS "disabledAt", disabled_reason AS "disabledReason", failures, failing_since AS "failingSince",
         open_until AS "openUntil" FROM notification_provider WHERE name = :name`,
      { name: `webhook/${receiver}` },
    );
    if (!row) throw new Error('the provider has no row');
    return row;
  }

  /** As if it had failed so often, and first so long ago. */
  async failed(receiver: string, failures: number, hours: number): Promise<void> {
    await this.write(
      `UPDATE notification_provider SET failures = :failures, failing_since = now() - :hours::int * interval '1 hour', open_until = now()
       WHERE name = :name`,
      { name: `webhook/${receiver}`, failures, hours },
    );
  }

  async write(sql: string, values: Record<string, unknown> = {}): Promise<void> {
    await this.database.query(`WITH written AS (${sql} RETURNING 1) SELECT`, values);
  }

  /** Resolves when somebody waits for a lock in this database. */
  async somebodyWaits(): Promise<void> {
    await eventually(async () => (await countLockWaiters(this.database)) > 0, { what: 'somebody waits for a lock' });
  }
}

export function letterTo(receiver: string | null, body = '{"type":"parley.order-accepted"}'): Letter {
  const now = new Date();
  return {
    ...{ id: randomUUID(), eventId: 'order/PO-1/2', kind: 'order-accepted', channel: 'webhook' },
    ...{ provider: `webhook/${receiver}`, receiver, address: 'https://old.example/', partner: null, orderNumber: null },
    ...{ data: {}, content: { channel: 'webhook', body }, happenedAt: now, createdAt: now },
    ...{ expiresAt: new Date(now.getTime() + 3_600_000), attempts: 1, firstBegunAt: now, doubtful: false },
  };
}
