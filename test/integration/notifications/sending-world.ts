import { Client } from 'pg';
import { DataSource } from 'typeorm';
import type { Provider } from '../../../src/notifications/channels/provider';
import { type NotificationKind, URGENCIES, type Urgency } from '../../../src/notifications/domain/kind';
import { Attempts } from '../../../src/notifications/sending/attempts';
import { Claims } from '../../../src/notifications/sending/claims';
import { Expiry } from '../../../src/notifications/sending/expiry';
import { Notifier, type NotifierParts } from '../../../src/notifications/sending/notifier';
import type { NotificationObserver } from '../../../src/notifications/sending/observer';
import { type Assignment, Sender, type SenderParts } from '../../../src/notifications/sending/sender';
import { Upkeep } from '../../../src/notifications/sending/upkeep';
import { Database, dataSourceOptions } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { freshDatabase } from '../../support/database';
import { eventually, type EventuallyOptions } from '../../support/eventually';
import { countLockWaiters } from '../../support/lock-waiters';

export * from './counting-provider';

export interface Row {
  id: string;
  state: string;
  attempts: number;
  doubtful: boolean;
  code: string | null;
  detail: string | null;
  claim: string | null;
  version: number;
  next_attempt_at: Date;
  first_begun_at: Date | null;
  lease_until: Date | null;
  settled_at: Date | null;
  data: object;
  content: object | null;
}

export interface AttemptRow {
  number: number;
  action: string;
  outcome: string | null;
  code: string | null;
  detail: string | null;
  begun_at: Date;
  ended_at: Date | null;
}

/** What a notification of a test is, where it is not as usual. */
export interface Shape {
  provider?: string;
  kind?: string;
  receiver?: string;
  address?: string;
  /** ms from now, by the database. */
  dueInMs?: number;
  expiresInMs?: number;
  urgency?: Urgency;
}

/** Longer than any of these tests takes, on a machine that stands still for seconds, too: what is to be over is aged. */
export const LEASE = { leaseMs: 60_000 };

const retry = { initialMs: 20, maxMs: 100, attempts: 5 };
const kind = (name: string, rest: Partial<NotificationKind>): NotificationKind => ({
  ...{ name, summary: 'Of tests.', channels: ['sms'], crash: 'look-up', quietHours: 'ignore', urgency: 'normal' },
  ...{ expiresMs: 3_600_000, retry, source: 'event', required: [], example: {} },
  ...rest,
});

/** One kind for each policy. */
export const TEST_KINDS: readonly NotificationKind[] = [
  kind('asks', { crash: 'look-up' }),
  kind('repeats', { crash: 'repeat' }),
  kind('skips', { crash: 'skip' }),
  kind('quiet', { crash: 'repeat', quietHours: 'respect' }),
  kind('secret', { crash: 'repeat', secret: true }),
];

/** A migrated database with what sends from it. */
export class SendingWorld {
  readonly claims: Claims;
  readonly attempts: Attempts;
  readonly expiry: Expiry;
  /** What was counted, in its order. */
  readonly results: string[] = [];
  readonly lapsed = { doubtful: 0, unbegun: 0 };
  readonly observer: NotificationObserver = {
    settled: (_, __, result) => void this.results.push(result),
    lapsed: (doubtful, count) => void (this.lapsed[doubtful ? 'doubtful' : 'unbegun'] += count),
  };
  private readonly notifiers: Notifier[] = [];

  private constructor(
    readonly url: string,
    readonly dataSource: DataSource,
    readonly database: Database,
  ) {
    this.claims = new Claims(database);
    this.attempts = new Attempts(database);
    this.expiry = new Expiry(database, TEST_KINDS, this.observer);
  }

  static async open(poolSize = 10): Promise<SendingWorld> {
    const databaseUrl = await freshDatabase();
    const limits = { databasePoolSize: poolSize, databaseConnectTimeout: 30_000, databaseStatementTimeout: 30_000 };
    const dataSource = await new DataSource(
      dataSourceOptions({ databaseUrl, ...limits, instanceId: 'test' }, {}),
    ).initialize();
    return new SendingWorld(databaseUrl, dataSource, new Database(dataSource));
  }

  /** Makes so many that are due; resolves with their ids. */
  async put(count: number, shape: Shape = {}): Promise<string[]> {
    const { provider = 'sms', kind: name = 'asks', receiver = null, address = '+4915112345678' } = shape;
    const rows = await this.database.query<{ id: string }>(
      `WITH made AS (INSERT INTO notification (id, event_id, kind, channel, provider, receiver, address, secret, data, happened_at, created_at, next_attempt_at, expires_at, urgency)
         SELECT gen_random_uuid(), 'test/' || n, :name, split_part(:provider, '/', 1), :provider, :receiver, :address, :secret::boolean, '{"code":"1234"}', now(), now(),
           now() + :due::float8 * interval '1 millisecond', now() + :expires::float8 * interval '1 millisecond', :urgency::smallint
         FROM generate_series(1, :count::int) n RETURNING id)
       SELECT id FROM made`,
      {
        ...{ name, provider, receiver, address, count },
        secret: TEST_KINDS.find((one) => one.name === name)?.secret ?? false,
        urgency: URGENCIES.indexOf(shape.urgency ?? 'normal'),
        due: shape.dueInMs ?? 0,
        expires: shape.expiresInMs ?? 3_600_000,
      },
    );
    return rows.map(({ id }) => id);
  }

  async row(id: string): Promise<Row> {
    const [row] = await this.database.query<Row>('SELECT * FROM notification WHERE id = :id', { id });
    if (!row) throw new Error(`no notification ${id}`);
    return row;
  }

  attemptsOf(id: string): Promise<AttemptRow[]> {
    return this.database.query<AttemptRow>(
      'SELECT * FROM notification_attempt WHERE notification_id = :id ORDER BY number',
      { id },
    );
  }

  async states(): Promise<Record<string, number>> {
    const rows = await this.database.query<{ state: string; count: number }>(
      'SELECT state, count(*)::int AS count FROM notification GROUP BY state',
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }

  sender(options: Partial<SenderParts> = {}): Sender {
    return new Sender({
      ...{ claims: this.claims, attempts: this.attempts, notifier: 'test', ...LEASE, log: quiet },
      render: () => ({ channel: 'sms', text: 'Hello' }),
      observer: this.observer,
      ...options,
    });
  }

  upkeep({ leaseMs } = LEASE): Upkeep {
    return new Upkeep(this.claims, this.expiry, this.observer, quiet, leaseMs);
  }

  /** Started; stopped by {@link clear}. */
  notifier(providerFor: (name: string) => Provider | undefined, options: Partial<NotifierParts> = {}): Notifier {
    const { leaseMs } = { ...LEASE, ...options };
    const notifier = new Notifier({
      ...{ claims: this.claims, sender: this.sender({ leaseMs }), providerFor, kinds: TEST_KINDS },
      ...{ upkeep: this.upkeep({ leaseMs }), concurrency: 8, leaseMs, log: quiet },
      ...options,
    });
    this.notifiers.push(notifier);
    notifier.start();
    return notifier;
  }

  /** Stops all notifiers and forgets all notifications. */
  async clear(): Promise<void> {
    await Promise.all(this.notifiers.splice(0).map((notifier) => notifier.stop()));
    await this.database.query(
      'TRUNCATE notification, notification_attempt, notification_provider, notification_bad_address, notification_receiver CASCADE',
    );
    this.results.length = 0;
    [this.lapsed.doubtful, this.lapsed.unbegun] = [0, 0];
  }

  async close(): Promise<void> {
    await this.clear();
    await this.dataSource.destroy();
  }
}

export const quiet = createLogger(process.env['LOG_LEVEL'] ?? 'silent', 'test');

/** Waits until expectations hold. */
export const until = (check: () => void | Promise<void>, options?: EventuallyOptions): Promise<boolean> =>
  eventually(async () => {
    await check();
    return true;
  }, options);

/** What is claimed now, as its sender has it. */
export async function claimOne(
  world: SendingWorld,
  provider: Provider,
  { leaseMs = LEASE.leaseMs, name = 'sms' } = {},
): Promise<Assignment> {
  const kinds = TEST_KINDS.map((one) => one.name);
  const tap = { provider: name, slots: 1, perSecond: provider.perSecond, leaseMs, kinds };
  await world.claims.introduce(name, 'sms');
  const caught = await world.claims.claim(tap);
  const [claimed] = caught?.claimed ?? [];
  const ofKind = TEST_KINDS.find((one) => one.name === claimed?.kind);
  if (!caught || !claimed || !ofKind) throw new Error('nothing was to be claimed');
  const heard = performance.now();
  const now = () => new Date(caught.at.getTime() + performance.now() - heard);
  return { claimed, kind: ofKind, provider, trial: caught.trial, now };
}

/** A transaction that holds the row of a notification (or of a provider), and changes nothing but what it does as it lets go. */
export async function holdRow(
  world: SendingWorld,
  key: string,
  table: 'notification' | 'notification_provider' = 'notification',
): Promise<{ letGo: (change?: string) => void; ended: Promise<void> }> {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  await client.query('BEGIN');
  const column = table === 'notification' ? 'id' : 'name';
  await client.query(`SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [key]);
  let done = (): void => undefined;
  const ended = new Promise<void>((resolve) => (done = resolve));
  return {
    // Written to the socket before this returns.
    letGo: (change = 'SELECT') => void client.query(`${change}; COMMIT`).then(() => client.end().then(done)),
    ended,
  };
}

/** So many wait for a lock in this database. */
export const lockWaited = (world: SendingWorld, count = 1): Promise<boolean> =>
  until(async () => {
    expect(await countLockWaiters(world.database)).toBeGreaterThanOrEqual(count);
  });

export const leaseOver = (world: SendingWorld, id: string): Promise<boolean> =>
  until(async () => {
    const over = await world.database.query(
      'SELECT 1 FROM notification WHERE id = :id AND lease_until < clock_timestamp()',
      { id },
    );
    expect(over).toHaveLength(1);
  });

/** As if it had been claimed, and its attempt begun, so much earlier. */
export const age = (world: SendingWorld, id: string, ms: number): Promise<unknown> =>
  world.database.query(
    `WITH aged AS (UPDATE notification SET lease_until = lease_until - :ms::int * interval '1 millisecond',
       next_attempt_at = next_attempt_at - :ms::int * interval '1 millisecond' WHERE id = :id) SELECT`,
    { id, ms },
  );
