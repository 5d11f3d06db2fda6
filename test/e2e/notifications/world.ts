import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Notifications } from '../../../src/notifications';
import { WebhookSecrets } from '../../../src/notifications/channels/webhook/webhook-secrets';
import { type CrashPolicy, crashPolicyOf } from '../../../src/notifications/domain/kind';
import type { Channel, NotificationEvent } from '../../../src/notifications/domain/notification';
import { kindOf } from '../../../src/notifications/kinds/catalogue';
import { Database, dataSourceOptions } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import { MailServer } from '../../support/mail-server';
import { subscribe } from '../../support/receivers';
import { SmsProviderServer } from '../../support/sms-provider';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { WebhookReceiver } from '../../support/webhook-receiver';
import { NotifierProcess } from './notifier-process';

/** How notifiers of these tests live: a call takes 2 s at most, and what is in doubt is looked at after 6. */
export const LEASE_MS = 4_000;
const WEBHOOKS = ['hook-a', 'hook-b'];

/** The kind that stands for a policy; no kind skips over webhooks. */
const KINDS: Record<CrashPolicy, { request: string; webhook?: string }> = {
  repeat: { request: 'confirmation-code', webhook: 'order-overdue' },
  skip: { request: 'announcement' },
  'look-up': { request: 'message', webhook: 'message' },
};
export const policyOf = ({ kind, channel }: Pick<Told, 'kind' | 'channel'>): CrashPolicy => {
  const found = kindOf(kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return crashPolicyOf(found, channel);
};

export interface Told {
  id: string;
  kind: string;
  channel: Channel;
  state: string;
  code: string | null;
  doubtful: boolean;
  /** Each attempt as `send accepted`, `look-up found`; `send` alone: nobody heard its end. */
  story: string[];
}

export interface WorldOptions {
  /** Where SMS and e-mails go behind a server of the test. */
  env?: NodeJS.ProcessEnv;
  /** How long the SMS provider is told to remember. */
  remembersHours?: number;
}

/** A migrated database, a provider for each channel that counts what it gets, and notifiers in processes of their own. */
export class CrashWorld {
  /** Awaited by every provider between having a notification and saying so. */
  hold: (id: string) => Promise<void> = () => Promise.resolve();
  private readonly notifiers = new Set<NotifierProcess>();
  private readonly env: NodeJS.ProcessEnv;

  private constructor(
    readonly url: string,
    private readonly pool: Pool,
    private readonly dataSource: DataSource,
    readonly providers: { sms: SmsProviderServer; wire: TcpProxy; mail: MailServer; hooks: WebhookReceiver },
    options: WorldOptions & { secretKeys: string },
  ) {
    const { sms, wire, mail, hooks } = providers;
    sms.hold = (id) => this.hold(id);
    mail.hold = (raw) => this.hold(idOfMail(raw));
    hooks.answer = (response, { headers }) =>
      void this.hold(headers['webhook-id'] ?? '').then(() => response.writeHead(204).end());
    this.env = {
      ...{ DATABASE_URL: url, KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'], LOG_LEVEL: 'warn', ROLES: 'notifier' },
      ...{ HTTP_PORT: '0', MANAGEMENT_PORT: '0', NOTIFICATION_LEASE_MS: String(LEASE_MS) },
      ...sms.env,
      ...{ SMS_URL: `http://${wire.address}`, SMS_REMEMBERS_HOURS: String(options.remembersHours ?? 0) },
      ...mail.env,
      ...{ WEBHOOK_SECRET_KEYS: options.secretKeys, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
      ...{ SMS_PER_SECOND: '10000', EMAIL_PER_SECOND: '10000', WEBHOOK_PER_SECOND: '10000' },
      ...options.env,
    };
  }

  /** @param url of a migrated database of its own */
  static async open(url: string, options: WorldOptions = {}): Promise<CrashWorld> {
    const limits = { databasePoolSize: 4, databaseConnectTimeout: 30_000, databaseStatementTimeout: 30_000 };
    const dataSource = await new DataSource(
      dataSourceOptions({ databaseUrl: url, ...limits, instanceId: 'test' }, {}),
    ).initialize();
    const pool = new Pool({ connectionString: url, max: 3 });
    pool.on('error', () => undefined);
    const [sms, mail, hooks] = await Promise.all([
      SmsProviderServer.start(),
      MailServer.start(),
      WebhookReceiver.start(),
    ]);
    const wire = await startTcpProxy({ port: Number(new URL(sms.url).port) });
    const secretKeys = randomBytes(32).toString('base64');
    const world = new CrashWorld(url, pool, dataSource, { sms, wire, mail, hooks }, { ...options, secretKeys });
    const database = new Database(dataSource);
    for (const id of WEBHOOKS) {
      await subscribe(database, { id, kinds: [], webhookUrl: hooks.url });
      const secrets = new WebhookSecrets(database, { webhookSecretKeys: secretKeys });
      await database.transaction((tx) => secrets.first(tx, id, new Date()));
    }
    return world;
  }

  readonly sql = async <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await this.pool.query(text, values)).rows as Row[];

  /** Tells so many of each policy over each of these channels; resolves with their ids. */
  async tell(each: number, channels: readonly Channel[]): Promise<string[]> {
    const database = new Database(this.dataSource);
    const prefix = uniqueName('event');
    const events = channels.flatMap((channel) =>
      Object.values(KINDS).flatMap(({ request, webhook }) => {
        const kind = channel === 'webhook' ? webhook : request;
        return kind === undefined ? [] : Array.from({ length: each }, (_, n) => eventOf(prefix, kind, channel, n));
      }),
    );
    await database.transaction((tx) => new Notifications(database).raise(tx, events, new Date()));
    const rows = await this.sql<{ id: string }>('SELECT id FROM notification WHERE starts_with(event_id, $1)', [
      `${prefix}/`,
    ]);
    return rows.map(({ id }) => id);
  }

  /** @param entry of the program; absent: the role alone, which starts sooner */
  notifier(env: NodeJS.ProcessEnv = {}, entry?: string): NotifierProcess {
    const notifier = new NotifierProcess({ ...this.env, ...env }, this.sql, entry);
    this.notifiers.add(notifier);
    return notifier;
  }

  /** How often each reached somebody. */
  effects(): Map<string, number> {
    const { sms, mail, hooks } = this.providers;
    const counts = new Map<string, number>();
    const count = (id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
    sms.sent.forEach(({ messageId }) => count(messageId));
    mail.mails.forEach(({ raw }) => count(idOfMail(raw)));
    hooks.received.forEach(({ headers }) => count(headers['webhook-id'] ?? ''));
    return counts;
  }

  told(ids?: readonly string[]): Promise<Told[]> {
    return this.sql<Told>(
      `SELECT n.id, n.kind, n.channel, n.state, n.code, n.doubtful,
         ARRAY(SELECT concat_ws(' ', action, outcome) FROM notification_attempt a WHERE a.notification_id = n.id ORDER BY number) AS story
       FROM notification n WHERE $1::uuid[] IS NULL OR id = ANY($1)`,
      [ids ?? null],
    );
  }

  /**
   * On a machine that stands still for seconds all calls of a notifier are late at once, and its breakers open. Then each trial keeps the next one
   * waiting for a lease, where its end cannot be written since somebody holds its row.
   */
  async closeBreakers(): Promise<void> {
    await this.sql(
      `UPDATE notification_provider SET failures = 0, open_until = NULL WHERE failures > 0 OR open_until IS NOT NULL`,
    );
  }

  /** Resolves when nobody has anything to do with them any more, people aside. */
  async settled(timeout = 60_000): Promise<void> {
    await eventually(
      async () => {
        const open = await this.sql<object>(
          `SELECT state, channel, kind, code, attempts, doubtful, next_attempt_at - now() AS due, count(*)::int AS n FROM notification WHERE state IN ('pending', 'sending') GROUP BY 1, 2, 3, 4, 5, 6, 7 LIMIT 5`,
        );
        if (open.length > 0) throw new Error(JSON.stringify(open));
        return true;
      },
      { timeout, interval: 100, what: 'every notification is settled' },
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.notifiers].map((notifier) => notifier.kill().catch(() => undefined)));
    const { sms, wire, mail, hooks } = this.providers;
    await Promise.all([wire.close(), sms.stop(), mail.stop(), hooks.stop()]);
    await this.pool.end();
    await this.dataSource.destroy().catch(() => undefined);
  }
}

const idOfMail = (raw: string): string => /^Message-ID: <([^@]+)@/m.exec(raw)?.[1] ?? '';

function eventOf(prefix: string, kind: string, channel: Channel, n: number): NotificationEvent {
  const to =
    channel === 'webhook'
      ? ({ receiver: WEBHOOKS[n % WEBHOOKS.length] ?? '', channel } as const)
      : ({ channel, address: channel === 'sms' ? '+4915112345678' : 'kim@example.com' } as const);
  return { id: `${prefix}/${channel}/${kind}/${n}`, kind, at: new Date(), data: kindOf(kind)?.example ?? {}, to };
}
