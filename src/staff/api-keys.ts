import { query, type Tx } from '../platform/database';
import { newToken } from './api-key-token';
import { audit, type AuditEntry } from './audit';
import type { Principal } from './principal';

/** What a key is made with. */
export interface NewApiKey extends Pick<Principal, 'name' | 'role' | 'areas' | 'partners'> {
  expiresAt: Date | null;
}

/** Makes a key and its entry in the audit. The token is shown now and never again: only its hash is kept. */
export async function addApiKey(
  tx: Tx,
  key: NewApiKey,
  by: AuditEntry['by'],
  now: Date,
): Promise<{ id: string; token: string }> {
  const { id, token, hash } = newToken();
  const { name, role, areas, partners, expiresAt } = key;
  await query(
    tx,
    `INSERT INTO api_key (id, name, hash, role, areas, partners, created_at, created_by, expires_at)
     VALUES (:id, :name, :hash, :role, :areas::text[], :partners::text[], :now, :by, :expiresAt)`,
    { id, name, hash, role, areas, partners, now, by: by.id, expiresAt },
  );
  const detail = { name, role, areas, partners, expiresAt: expiresAt?.toISOString() ?? null };
  await audit(tx, { by, action: 'api-key.create', object: `api-key/${id}`, detail }, now);
  return { id, token };
}
