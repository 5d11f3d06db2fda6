import { configOf, load, logger } from '../parley.mjs';
import { batchOf, contract } from './messages.mjs';

const { DataSource } = load('typeorm');
const { ChannelCatalog } = load('../dist/src/messaging/channels/index.js');
const { JsonCodec } = load('../dist/src/messaging/registry/index.js');
const { Database, dataSourceOptions, query } = load('../dist/src/platform/database/index.js');
const { createParkedDrain, createProcessor } = load('../dist/src/messaging/consumer/create-transport.js');

export { query };

/** Records of a partition in one fetch. */
const FETCH = 500;

/** Parley's consumer and its drain, without a broker. */
export async function openConsumer(servers, name, handler, retry) {
  const config = configOf(servers, name);
  const dataSource = await new DataSource(dataSourceOptions(config, { entities: [], migrations: [] })).initialize();
  const database = new Database(dataSource);
  const channels = new ChannelCatalog(database);
  await channels.load();
  const log = logger();
  // What fails here is meant to.
  log.level = process.env.BENCH_LOG ?? 'silent';
  const options = { config, database, channels, codec: new JsonCodec(), logger: log, contracts: [contract(retry)] };
  const processor = createProcessor(options, handler);
  const drain = createParkedDrain(options, handler);
  return {
    database,
    processor,
    drain,
    /** Parked messages in these states. */
    async parked(...states) {
      const [row] = await database.query(
        'SELECT count(*)::int AS n FROM parked_inbound WHERE state = ANY(:states::text[])',
        { states },
      );
      return row.n;
    },
    /** All partitions at once, each in order. */
    feed: (partitions) =>
      Promise.all(
        partitions.map(async (records) => {
          for (let at = 0; at < records.length; at += FETCH) {
            await processor.process(batchOf(records.slice(at, at + FETCH)));
          }
        }),
      ),
    async close() {
      await drain.stop();
      await processor.close();
      await dataSource.destroy();
    },
  };
}

/** The table of effects, and none of what an earlier measurement left. */
export async function emptyTables(client) {
  await client.query('CREATE TABLE IF NOT EXISTS effect (n bigint PRIMARY KEY, key text NOT NULL)');
  await client.query('CREATE TABLE IF NOT EXISTS naive_inbox (id text PRIMARY KEY)');
  await client.query('TRUNCATE effect, naive_inbox, inbox, parked_inbound, parked_key, outbox_message CASCADE');
}
