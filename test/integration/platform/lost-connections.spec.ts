import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { Database, dataSourceOptions, query } from '../../../src/platform/database';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { ownWire } from '../../support/faults';
import type { TcpProxy } from '../../support/tcp-proxy';

/** The other connections of this database, as soon as they wait for a statement. */
const END = `SELECT pg_terminate_backend(pid, 10000) AS ended FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state = 'idle'`;
/** First bytes of what a server says: that somebody is let in, and that something failed. */
const [AUTHENTICATION, FAILURE] = [0x52, 0x45];

/** Keeps the word that a connection is made until the server ends it, and passes both at once: the client was not given the processor meanwhile. */
function letTheEndCatchUp(wire: TcpProxy): void {
  let welcome: Buffer | undefined;
  wire.filter((data, direction) => {
    if (direction === 'request') return data;
    if (data[0] === AUTHENTICATION) {
      welcome = data;
      return null;
    }
    if (data[0] !== FAILURE || !welcome) return data;
    wire.filter(undefined);
    return Buffer.concat([welcome, data]);
  });
}

it('a connection that the server ends in the moment in which it is made fails who asked for it, and not the process', async () => {
  const url = new URL(await freshDatabase());
  const wire = await ownWire({ port: Number(url.port) });
  url.port = String(wire.port);
  const options = dataSourceOptions(testConfig(url.href), { entities: [], migrations: [] });
  const database = new Database(await new DataSource(options).initialize());
  try {
    await database.transaction(async (tx) => {
      letTheEndCatchUp(wire);
      const asked = database.query('SELECT 1').catch((error: unknown) => error);
      await eventually(
        async () => {
          await query(tx, 'SELECT pg_stat_clear_snapshot()');
          const [row] = await query<{ ended: boolean }>(tx, END);
          return row?.ended;
        },
        { what: 'the new connection is made and ended' },
      );
      expect(String(await asked)).toMatch(/not queryable|administrator command|terminated/);
    });
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await database.dataSource.destroy();
  }
});
