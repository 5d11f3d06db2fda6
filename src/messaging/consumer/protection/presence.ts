import { randomInt } from 'node:crypto';
import { Client } from 'pg';
import { AppError, messageOf } from '../../../platform/errors';
import { backoffMs, sleep } from '../../../platform/polling';
import type { Logger } from '../../../platform/telemetry';

/** First key of the advisory locks that consumer processes hold; the second is their number. */
export const PRESENCE_LOCK = 0x706c_7972;

export interface PresenceDatabase {
  /** Asked for each connection: its password may have changed. */
  url: () => string;
  connectTimeoutMs: number;
  /** Shown in pg_stat_activity. */
  name: string;
}

/** So long the first sign of life is waited for, ms. */
const PATIENCE_MS = 5_000;
const RECONNECT = { initialMs: 100, maxMs: 2_000 };

/**
 * Says that this process lives, by a lock that its own connection holds: the server lets go of it when the process dies, in whatever
 * way, and not while it is only slow, stopped or has lost its place in the group. A machine that vanishes without a word holds
 * it until TCP gives up; until then nothing is blamed on that end.
 */
export class Presence {
  /** This run of this process. */
  readonly run = randomInt(1, 2 ** 31 - 1);
  private readonly stopping = new AbortController();
  private client: Client | undefined;
  private loop: Promise<void> | undefined;
  private readonly shown = Promise.withResolvers<void>();
  private isShown = false;

  constructor(
    private readonly database: PresenceDatabase,
    private readonly logger: Logger,
  ) {}

  /** Resolves when the lock was held once: nothing may be marked with our number before. Rejects, as for a database that is away, when that takes long. */
  async established(): Promise<void> {
    if (this.isShown) return;
    this.loop ??= this.keep();
    const over = new AbortController();
    const late = sleep(PATIENCE_MS, over.signal).then(() => {
      if (!this.isShown) throw new AppError('presence-unshown', 'The sign of life cannot be given: timeout expired.');
    });
    late.catch(() => undefined);
    await Promise.race([this.shown.promise, late]).finally(() => over.abort());
  }

  async close(): Promise<void> {
    this.stopping.abort();
    this.shown.resolve();
    await this.client?.end().catch(() => undefined);
    await this.loop;
  }

  private async keep(): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted;) {
      try {
        await this.hold(() => (failures = 0));
      } catch (error) {
        if (failures++ === 0 && !signal.aborted)
          this.logger.debug({ reason: messageOf(error) }, 'the sign of life is lost; it is given again');
        await sleep(backoffMs(RECONNECT, failures), signal);
      }
    }
  }

  /** Rejects when the connection is lost or can't be had. */
  private async hold(onHeld: () => void): Promise<void> {
    const { url, connectTimeoutMs, name } = this.database;
    const client = new Client({
      connectionString: url(),
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: `parley presence ${name}`.slice(0, 63),
      keepAlive: true,
    });
    const lost = new Promise<never>((_, reject) => {
      client.once('error', reject);
      client.once('end', () => reject(new Error('Connection terminated')));
    });
    lost.catch(() => undefined);
    this.client = client;
    try {
      await Promise.race([client.connect(), lost]);
      await Promise.race([client.query('SELECT pg_advisory_lock($1, $2)', [PRESENCE_LOCK, this.run]), lost]);
      onHeld();
      this.isShown = true;
      this.shown.resolve();
      await lost;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
