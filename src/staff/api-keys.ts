import type { Clock } from '../platform/clock';
import { type Database, query, type Tx } from '../platform/database';
import { NonRetriableError, type Violation } from '../platform/errors';
import { decodeCursor, type Page, pageOf } from '../platform/http';
import { newToken } from './api-key-token';
import { audit } from './audit';
import { unauthenticated } from './authenticator';
import { type Caller, type Principal, reaches } from './principal';

/** What a key is made with. */
export interface NewApiKey extends Pick<Principal, 'name' | 'role' | 'areas' | 'partners'> {
  /** null: never. */
  expiresAt: Date | null;
}

export interface ApiKey extends NewApiKey {
  id: string;
  createdAt: Date;
  createdBy: string;
  /** To the minute. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

const COLUMNS = `id, name, role, areas, partners, created_at AS "createdAt", created_by AS "createdBy",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"`;
/** Who is confined to some partners sees and touches keys that are confined to some of these. */
const VISIBLE = '(:partners::text[] IS NULL OR partners <@ :partners::text[])';
const CURSOR = [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, /^key_[0-9a-f]{12}$/] as const;

/** Making, listing and revoking API keys; each change stands in the audit, in its own transaction. */
export class ApiKeys {
  /** @param changed is told after each change, so that this process knows of it at once */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly changed: () => void = () => undefined,
  ) {}

  /**
   * Makes a key that may no more than its maker. `token` is shown now and never again: only its hash is kept. Throws
   * `api-key-exceeds-caller`, and `request-invalid` for an end that has passed.
   */
  async create(caller: Caller, wanted: NewApiKey): Promise<ApiKey & { token: string }> {
    const { id, token, hash } = newToken();
    const { name, role, areas, partners, expiresAt } = wanted;
    const now = this.clock.now();
    if (expiresAt && expiresAt <= now) {
      const violations = [{ pointer: '/expiresAt', detail: 'must lie in the future' }];
      throw new NonRetriableError('request-invalid', '/expiresAt must lie in the future.', { violations });
    }
    const key = await this.database.transaction(async (tx) => {
      const violations = excessOf(caller, await endOf(tx, caller.id), wanted);
      if (violations.length > 0) throw exceeds(violations);
      const [row] = await query<ApiKey>(
        tx,
        `INSERT INTO api_key (id, name, hash, role, areas, partners, created_at, created_by, expires_at)
         VALUES (:id, :name, :hash, :role, :areas::text[], :partners::text[], :now, :by, :expiresAt) RETURNING ${COLUMNS}`,
        { id, name, hash, role, areas, partners, now, by: caller.id, expiresAt },
      );
      const detail = { name, role, areas, partners, expiresAt: expiresAt?.toISOString() ?? null };
      await audit(tx, { by: caller, action: 'api-key.create', object: `api-key/${id}`, detail }, now);
      return row as ApiKey;
    });
    this.changed();
    return { ...key, token };
  }

  /** Newest first, revoked and expired ones too. Throws `cursor-invalid`. */
  async page({ partners }: Pick<Caller, 'partners'>, limit: number, cursor?: string): Promise<Page<ApiKey>> {
    const [before, beforeId] = cursor === undefined ? [null, null] : decodeCursor(cursor, CURSOR);
    const found = await this.database.query<ApiKey>(
      `SELECT ${COLUMNS} FROM api_key
       WHERE ${VISIBLE} AND (:before::timestamptz IS NULL OR (created_at, id) < (:before::timestamptz, :beforeId))
       ORDER BY created_at DESC, id DESC LIMIT :rows`,
      { partners, before, beforeId, rows: limit + 1 },
    );
    return pageOf(found, limit, (last) => [last.createdAt.toISOString(), last.id]);
  }

  /** Throws `api-key-unknown`. */
  async find({ partners }: Pick<Caller, 'partners'>, id: string): Promise<ApiKey> {
    const [key] = await this.database.query<ApiKey>(`SELECT ${COLUMNS} FROM api_key WHERE id = :id AND ${VISIBLE}`, {
      id,
      partners,
    });
    if (!key) throw new NonRetriableError('api-key-unknown', 'There is no API key with this id.');
    return key;
  }

  /** From now on in this process, within 5 s in the others, the key opens nothing. Again: nothing happens. Throws `api-key-unknown`. */
  async revoke(caller: Caller, id: string, reason?: string): Promise<ApiKey> {
    const now = this.clock.now();
    const revoked = await this.database.transaction(async (tx) => {
      const [key] = await query<ApiKey>(
        tx,
        `UPDATE api_key SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL AND ${VISIBLE} RETURNING ${COLUMNS}`,
        { id, now, partners: caller.partners },
      );
      if (key) await audit(tx, { by: caller, action: 'api-key.revoke', object: `api-key/${id}`, reason }, now);
      return key;
    });
    this.changed();
    return revoked ?? this.find(caller, id);
  }
}

/** When the maker itself ends, if it is a key. Locked: who revokes a key, and then looks what it made, finds all of that. */
async function endOf(tx: Tx, id: string): Promise<Date | null> {
  const [maker] = await query<{ expiresAt: Date | null; revokedAt: Date | null }>(
    tx,
    'SELECT expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM api_key WHERE id = :id FOR SHARE',
    { id },
  );
  // Its revocation may not have reached this process's memory yet.
  if (maker?.revokedAt) throw unauthenticated('The API key is revoked.');
  return maker?.expiresAt ?? null;
}

function excessOf(caller: Caller, end: Date | null, wanted: NewApiKey): Violation[] {
  const violations: Violation[] = [];
  if (!reaches(caller.role, wanted.role))
    violations.push({ pointer: '/role', detail: `must be at most ${caller.role}` });
  for (const name of ['areas', 'partners'] as const) {
    const own: readonly string[] | null = caller[name];
    if (own === null || wanted[name]?.every((one) => own.includes(one))) continue;
    violations.push({ pointer: `/${name}`, detail: `must be some of ${own.join(', ') || 'none'}` });
  }
  if (end && (wanted.expiresAt === null || wanted.expiresAt > end))
    violations.push({ pointer: '/expiresAt', detail: `must be at the latest ${end.toISOString()}` });
  return violations;
}

const exceeds = (violations: readonly Violation[]): NonRetriableError =>
  new NonRetriableError(
    'api-key-exceeds-caller',
    `A key cannot make one that may more than itself: ${violations[0]?.pointer} ${violations[0]?.detail}.`,
    { violations },
  );
