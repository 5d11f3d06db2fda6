import { DataSource } from 'typeorm';
import { systemClock } from '../../src/platform/clock';
import { Database } from '../../src/platform/database';
import { ApiKeys, type Caller, type NewApiKey } from '../../src/staff';

export interface TestKey {
  id: string;
  token: string;
  /** What a request with this key carries. */
  headers: { authorization: string };
}

const MAKER: Caller = { id: 'test', name: 'test', role: 'admin', areas: null, partners: null, origin: 'test' };

/** An API key in this database; one that may everything, unless told otherwise. */
export async function giveKey(database: Database, change: Partial<NewApiKey> = {}): Promise<TestKey> {
  const key: NewApiKey = { name: 'test', role: 'admin', areas: null, partners: null, expiresAt: null, ...change };
  const { id, token } = await new ApiKeys(database, systemClock).create(MAKER, key);
  return { id, token, headers: { authorization: `Bearer ${token}` } };
}

/** {@link giveKey} for a process of its own, by the URL of its migrated database. */
export async function giveKeyAt(url: string, change: Partial<NewApiKey> = {}): Promise<TestKey> {
  const dataSource = await new DataSource({ type: 'postgres', url, installExtensions: false }).initialize();
  try {
    return await giveKey(new Database(dataSource), change);
  } finally {
    await dataSource.destroy();
  }
}
