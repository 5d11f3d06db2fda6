import { DataSource } from 'typeorm';
import { type AnyContract, orderResponse, topicFor } from '../../../src/contracts';
import { addChannels, type Channel, ChannelCatalog } from '../../../src/messaging/channels';
import { createProcessor, type InboundBatch, type InboundMessage, type Outcome } from '../../../src/messaging/consumer';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { JsonCodec } from '../../../src/messaging/registry';
import { Database, dataSourceOptions, query, type Tx } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { freshDatabase } from '../../support/database';
import { countLockWaiters } from '../../support/lock-waiters';
import { ELSEWHERE, type Step, TEST_CONTRACTS, TestBatch } from './records';

export * from './records';

export const logger = createLogger(process.env['LOG_LEVEL'] ?? 'silent', 'test');

export interface World {
  url: string;
  database: Database;
  dataSource: DataSource;
  channels: ChannelCatalog;
  close(): Promise<void>;
}

/** A migrated database with a table for effects; `url` where it is not the run's. */
export async function openWorld(url?: string, statementTimeout = 15_000, instanceId = 'test'): Promise<World> {
  const target = url ?? (await freshDatabase());
  const dataSource = await new DataSource(
    dataSourceOptions(
      {
        databaseUrl: target,
        databasePoolSize: 8,
        databaseConnectTimeout: 20_000,
        databaseStatementTimeout: statementTimeout,
        instanceId,
      },
      {},
    ),
  ).initialize();
  const database = new Database(dataSource);
  await database.query(
    'CREATE TABLE IF NOT EXISTS effect (n bigint GENERATED ALWAYS AS IDENTITY, partner text, order_number text, message_id text UNIQUE, body jsonb)',
  );
  const channels = new ChannelCatalog(database);
  await channels.load();
  return { url: target, database, dataSource, channels, close: () => dataSource.destroy() };
}

/** Tells of each transaction before it begins, and counts them. */
export class CountingDatabase extends Database {
  transactions = 0;
  before: (count: number) => Promise<void> = () => Promise.resolve();

  override async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    await this.before(++this.transactions);
    return super.transaction(work);
  }
}

/** Does any session of this database wait for a lock? */
export const lockWaiters = async ({ database }: World): Promise<boolean> => (await countLockWaiters(database)) > 0;

/** A partner with its response channel; returns the topic. */
export async function addPartner(world: World, partner: string, allowMissingId = false): Promise<string> {
  await world.database.query(`INSERT INTO partner (id, name, created_at) VALUES (:partner, :partner, now())`, {
    partner,
  });
  return addChannel(world, partner, { topic: topicFor(orderResponse, partner), allowMissingId });
}

/** The topic of the partner's own documents, of a partner that is there. */
export const addShipments = (world: World, partner: string): Promise<string> =>
  addChannel(world, partner, { topic: topicFor(ELSEWHERE, partner) });

/** A channel of a partner that is there; returns its topic. */
export async function addChannel(
  world: World,
  partner: string,
  change: Partial<Omit<Channel, 'id'>> & Pick<Channel, 'topic'>,
): Promise<string> {
  const shape = { direction: 'in', format: 'json', partitions: 12, maxMessageBytes: 1_048_576 } as const;
  const channel = { partner, ...shape, allowMissingId: false, ...change };
  await world.database.transaction((tx) => addChannels(tx, [channel], new Date()));
  await world.channels.load();
  return channel.topic;
}

export type Decide = (message: InboundMessage<Step>) => Outcome | undefined | Promise<Outcome | undefined>;

/** A well-behaved handler: asks `decide` (undefined: applied) and writes one row an applied message, in order. */
export function handler(decide: Decide = () => undefined) {
  return async (contract: AnyContract, { tx, partner, messages }: InboundBatch<unknown>): Promise<Outcome[]> => {
    const waiting = new Set<string>();
    const outcomes: Outcome[] = [];
    const applied: InboundMessage<Step>[] = [];
    for (const message of messages as readonly InboundMessage<Step>[]) {
      const outcome: Outcome =
        message.key !== null && waiting.has(message.key)
          ? { kind: 'held' }
          : ((await decide(message)) ?? { kind: 'applied' });
      if (outcome.kind === 'applied') applied.push(message);
      else if (message.key !== null && contract.laterMessages === 'hold') waiting.add(message.key);
      outcomes.push(outcome);
    }
    await query(
      tx,
      `INSERT INTO effect (partner, order_number, message_id, body)
       SELECT :partner, o, m, b::jsonb FROM unnest(:orders::text[], :ids::text[], :bodies::text[]) u(o, m, b)`,
      {
        partner,
        orders: applied.map((message) => message.value.orderNumber),
        ids: applied.map((message) => `${message.topic} ${message.id}`),
        bodies: applied.map((message) => JSON.stringify(message.value)),
      },
    );
    return outcomes;
  };
}

export const LIMITS = { consumerBatchSize: 500, consumerLingerMs: 0, databasePoolSize: 8 };

export function processorOf(
  world: World,
  decide?: Decide,
  limits: Partial<typeof LIMITS> = {},
  guards?: Parameters<typeof createProcessor>[0]['guards'],
) {
  const { database, channels } = world;
  const config = { ...LIMITS, ...limits };
  return createProcessor(
    { config, database, channels, codec: new JsonCodec(), logger, contracts: TEST_CONTRACTS, guards },
    handler(decide),
  );
}

/** Runs records as one fetched batch through a processor of their own. */
export async function run(world: World, records: readonly InboundRecord[], decide?: Decide): Promise<TestBatch> {
  const batch = new TestBatch(records);
  const processor = processorOf(world, decide);
  await processor.process(batch);
  await processor.close();
  return batch;
}

/** Brings what is not done again, as the source does after a pause. `batches`: what was brought so far. */
export async function untilDone(
  process: (batch: TestBatch) => Promise<void>,
  records: readonly InboundRecord[],
  batches: TestBatch[] = [],
): Promise<TestBatch[]> {
  for (let left = records; left.length > 0;) {
    const batch = new TestBatch(left);
    batches.push(batch);
    await process(batch);
    left = left.filter((record) => record.offset > (batch.doneUpTo ?? -1n));
  }
  return batches;
}

export interface ParkedRow {
  state: string;
  code: string | null;
  key: string | null;
  topic: string;
  inbox_id: string;
  offset: string;
  attempts: number;
  next_attempt_at: Date | null;
  raw_key: Buffer | null;
  raw_value: Buffer | null;
  header_names: Buffer[];
  header_values: (Buffer | null)[];
  [column: string]: unknown;
}

export const parkedRows = (world: World, partner: string): Promise<ParkedRow[]> =>
  world.database.query<ParkedRow>('SELECT * FROM parked_inbound WHERE partner = :partner ORDER BY id', { partner });

export const parkedKeys = async (world: World, partner: string): Promise<string[]> =>
  (
    await world.database.query<{ key: string }>(
      'SELECT key FROM parked_key JOIN channel ON channel.id = channel_id WHERE partner = :partner ORDER BY topic, key',
      { partner },
    )
  ).map((row) => row.key);

/** Steps that were applied, in the order of their effect. */
export const appliedSteps = async (world: World, partner: string, order?: string): Promise<string[]> =>
  (
    await world.database.query<{ step: string }>(
      `SELECT body->>'step' AS step FROM effect WHERE partner = :partner AND (:order::text IS NULL OR order_number = :order) ORDER BY n`,
      { partner, order: order ?? null },
    )
  ).map((row) => row.step);

export const inboxCount = async (world: World, topic: string): Promise<number> =>
  Number(
    (
      await world.database.query<{ count: string }>(
        'SELECT count(*) FROM inbox WHERE channel_id = (SELECT id FROM channel WHERE topic = :topic)',
        { topic },
      )
    )[0]?.count,
  );
