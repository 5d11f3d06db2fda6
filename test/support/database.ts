import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** A database of its own for one test file: a copy of the migrated template. Returns its URL. */
export async function freshDatabase(): Promise<string> {
  const base = process.env['TEST_PG_URL'];
  if (!base) throw new Error('TEST_PG_URL is not set');
  const name = `t_${randomBytes(6).toString('hex')}`;
  const client = new Client({ connectionString: `${base}postgres` });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE parley_template`);
  } finally {
    await client.end();
  }
  return `${base}${name}`;
}
