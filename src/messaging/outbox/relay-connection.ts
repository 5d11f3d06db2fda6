import { Client, type ClientConfig, type CustomTypesConfig } from 'pg';

export interface RelayDatabase {
  /** `postgres://…`, or what `pg` takes; a function is asked for each connection, for its password may have changed. */
  connection: string | ClientConfig | (() => string);
  connectTimeoutMs?: number;
  statementTimeoutMs?: number;
}

/** The relay's two own connections: its reading must not wait behind a pool, and one of them commits asynchronously. */
export interface RelayConnections {
  reader: Client;
  /** `synchronous_commit = off` */
  writer: Client;
  close(): Promise<void>;
}

/** Values arrive as PostgreSQL's text; the few that are needed are parsed where they are used. */
const TEXT_ONLY: CustomTypesConfig = { getTypeParser: () => (text: string) => text };

/**
 * The reader has three queries, each with one right plan. A young partition has no statistics, and then the planner reads a
 * page by a bitmap of the whole backlog and a sort (230 ms a page at 200,000 rows, growing with them, against 1 ms). Penalties on
 * scans also make PostgreSQL 15 compile the query (1.8 s for an empty poll), so jit is off.
 */
export const READER_PLANS = `SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off; SET max_parallel_workers_per_gather = 0`;

/** Opens both or none. `onLost` hears of either connection's end, whoever caused it; it may be called more than once. */
export async function connectRelay(
  database: RelayDatabase,
  name: string,
  onLost: (error: Error) => void,
): Promise<RelayConnections> {
  const open = async (role: string): Promise<Client> => {
    const statement = database.statementTimeoutMs ?? 15_000;
    const connection = typeof database.connection === 'function' ? database.connection() : database.connection;
    const client = new Client({
      ...(typeof connection === 'string' ? { connectionString: connection } : connection),
      application_name: `parley relay ${role} ${name}`.slice(0, 63),
      connectionTimeoutMillis: database.connectTimeoutMs ?? 5000,
      statement_timeout: statement,
      // A server that is gone without a word: the client gives up on its own, a little later than the server would.
      query_timeout: statement + 5000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5000,
      types: TEXT_ONLY,
    });
    client.on('error', onLost);
    client.on('end', () => onLost(new Error('Connection terminated')));
    try {
      await client.connect();
      await client.query(`SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'`);
    } catch (error) {
      await hangUp(client);
      throw error;
    }
    return client;
  };
  const reader = await open('read');
  try {
    await reader.query(READER_PLANS);
    const writer = await open('write');
    await writer.query('SET synchronous_commit = off');
    return {
      reader,
      writer,
      close: async () => {
        await Promise.all([hangUp(reader), hangUp(writer)]);
      },
    };
  } catch (error) {
    await hangUp(reader);
    throw error;
  }
}

/** Ends a connection that may be dead: a farewell that nobody reads is not waited for. */
async function hangUp(client: Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  const timer = setTimeout(() => stream.destroy(), 1000);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}
