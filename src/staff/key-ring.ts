import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../platform/clock';
import { type Database, query } from '../platform/database';
import { messageOf } from '../platform/errors';
import { sleep } from '../platform/polling';
import type { Logger } from '../platform/telemetry';
import { readToken } from './api-key-token';
import { type Authenticator, unauthenticated } from './authenticator';
import type { Area, Principal, Role } from './principal';

/** How long the keys as they were read are believed: within this time a revocation takes effect everywhere. */
const BELIEVED_MS = 5000;
/** From this age on they are read anew behind the requests, which then never wait for it. */
const REFRESH_MS = 2500;
/** Between two readings: who guesses ids makes us read this often, however many they send. */
const PAUSE_MS = 50;
/** `last_used_at` is no more exact than this. */
const MARK_MS = 60_000;
/** A key that ended longer ago is called unknown instead of expired or revoked. */
const REMEMBERED_MS = 30 * 24 * 3_600_000;

interface HeldKey {
  principal: Principal;
  hash: Buffer;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

type KeyRow = Omit<HeldKey, 'principal'> & {
  id: string;
  name: string;
  role: Role;
  areas: Area[] | null;
  partners: string[] | null;
};

/**
 * All API keys in memory, so that a request costs no round trip, and one with a made-up id costs none of its own: whatever is
 * asked for, it is the same reading. One key is a few hundred bytes, and there are as many as people and programs.
 */
export class KeyRing implements Authenticator {
  private keys = new Map<string, HeldKey>();
  private readAt = Number.NEGATIVE_INFINITY;
  private triedAt = Number.NEGATIVE_INFINITY;
  private changedAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;
  private readonly markedAt = new Map<string, number>();

  constructor(
    private readonly database: Pick<Database, 'query' | 'transaction'>,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  async authenticate(token: string): Promise<Principal> {
    const print = readToken(token);
    if (print === undefined) throw unauthenticated('What was sent is not an API key.');
    if (print === 'mistyped') throw unauthenticated('The API key is mistyped or cut off: its checksum is wrong.');
    const key = await this.find(print.id);
    // The id is public: who knows only that learns no more than who made one up.
    if (!key || !timingSafeEqual(key.hash, print.hash)) throw unauthenticated('There is no such API key.');
    if (key.revokedAt) throw unauthenticated('The API key is revoked.');
    const now = this.clock.now();
    if (key.expiresAt && key.expiresAt <= now) throw unauthenticated('The API key has expired.');
    this.markUsed(print.id, now);
    return key.principal;
  }

  /** Somebody here changed a key: from now on no reading counts that began before. */
  changed(): void {
    this.changedAt = performance.now();
  }

  private async find(id: string): Promise<HeldKey | undefined> {
    const now = performance.now();
    const oldest = Math.max(now - BELIEVED_MS, this.changedAt);
    if (this.readAt < oldest) await this.read(oldest);
    else if (this.readAt < now - REFRESH_MS) void this.read(now - REFRESH_MS).catch(() => undefined);
    const key = this.keys.get(id);
    if (key) return key;
    // Made a moment ago, by another process?
    await this.read(now);
    return this.keys.get(id);
  }

  /** Until a reading that began at `since` or later is in. */
  private async read(since: number): Promise<void> {
    while (this.readAt < since) await (this.reading ??= this.readOnce().finally(() => (this.reading = undefined)));
  }

  private async readOnce(): Promise<void> {
    const pause = this.triedAt + PAUSE_MS - performance.now();
    if (pause > 0) await sleep(pause);
    const began = (this.triedAt = performance.now());
    const rows = await this.database.query<KeyRow>(
      `SELECT id, name, hash, role, areas, partners, expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM api_key
       WHERE least(expires_at, revoked_at) IS NULL OR least(expires_at, revoked_at) > :since`,
      { since: new Date(this.clock.now().getTime() - REMEMBERED_MS) },
    );
    this.keys = new Map(rows.map((row) => [row.id, heldOf(row)]));
    this.readAt = began;
  }

  /** Behind the request: a statement once a minute and key, at most; without it only the time shown is older. */
  private markUsed(id: string, now: Date): void {
    const at = performance.now();
    if (at - (this.markedAt.get(id) ?? Number.NEGATIVE_INFINITY) < MARK_MS) return;
    this.markedAt.set(id, at);
    void this.database
      .transaction((tx) =>
        query(
          tx,
          `UPDATE api_key SET last_used_at = :now
           WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= :now::timestamptz - interval '1 minute')`,
          { id, now },
        ),
      )
      .catch((error: unknown) => this.log.debug({ key: id, reason: messageOf(error) }, 'use of a key is not recorded'));
  }
}

const heldOf = ({ id, name, role, areas, partners, ...rest }: KeyRow): HeldKey => ({
  principal: { id, name, role, areas, partners },
  ...rest,
});
