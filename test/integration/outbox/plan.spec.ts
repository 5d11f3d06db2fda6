import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ensurePartitions } from '../../../src/messaging/outbox';
import { foreignPageSql, pageSql, pollSql } from '../../../src/messaging/outbox/read-query';
import { READER_PLANS } from '../../../src/messaging/outbox/relay-connection';
import { type Snapshot } from '../../../src/messaging/outbox/snapshot';
import { Database } from '../../../src/platform/database';
import { Bench } from './harness';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  Output?: string[];
  Plans?: PlanNode[];
}

const ROWS = 2000;
const PARTITIONS = 100;

describe('plans of the relay on a loaded table with 100 partitions', () => {
  const bench = new Bench();
  let client: Client;
  /** Id of the last loaded transaction. */
  let last: bigint;
  const limit = { rows: 500, bytes: 8 << 20 };

  beforeAll(async () => {
    await bench.open();
    client = await bench.client();
    const dataSource = await new DataSource({
      type: 'postgres',
      url: bench.url,
      installExtensions: false,
    }).initialize();
    await client.query('DROP TABLE outbox_message_p1, outbox_receipt_p1');
    await client.query('SET synchronous_commit = off');
    for (let from = 0; from < PARTITIONS; from += 5) {
      await ensurePartitions(new Database(dataSource), { rows: ROWS });
      // Ids like those of one transaction a row.
      await client.query(
        `INSERT INTO outbox_message (xid, id, aggregatetype, aggregateid, type, topic, partition, content_type, time, payload)
         SELECT (g + ${from * ROWS})::text::xid8, gen_random_uuid(), 'order', 'k', 't', 't', 0, 'c', now(), '\\x00' FROM generate_series(1, ${5 * ROWS}) g`,
      );
    }
    await ensurePartitions(new Database(dataSource), { rows: ROWS });
    await dataSource.destroy();
    last = BigInt(PARTITIONS * ROWS);
  });
  afterAll(() => bench.close());

  const explain = async (sql: string): Promise<PlanNode[]> => {
    await client.query(READER_PLANS);
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, FORMAT JSON) ${sql}`,
    );
    const nodes: PlanNode[] = [];
    const walk = (node: PlanNode): void => {
      nodes.push(node);
      node.Plans?.forEach(walk);
    };
    rows.flatMap((row) => row['QUERY PLAN']).forEach((plan) => walk(plan.Plan));
    return nodes;
  };
  const onMessages = (nodes: PlanNode[]) =>
    nodes.filter((node) => node['Relation Name']?.startsWith('outbox_message_p'));
  /** Index scans alone, and no sort of more rows than these. */
  const byIndex = (nodes: PlanNode[], sorted = 0) => {
    const scans = onMessages(nodes).map((node) => node['Node Type']);
    expect(scans.filter((type) => type !== 'Index Scan')).toEqual([]);
    const sorts = nodes.filter((node) => node['Node Type'].includes('Sort') && (node['Actual Rows'] ?? 0) > sorted);
    expect(sorts).toEqual([]);
  };
  const snapshot = (xmin: bigint, xmax: bigint, xip: bigint[] = []): Snapshot => ({ xmin, xmax, xip });

  describe.each([{ statistics: 'without statistics' }, { statistics: 'with statistics' }])(
    '$statistics',
    ({ statistics }) => {
      beforeAll(async () => {
        if (statistics === 'with statistics') await client.query('VACUUM ANALYZE outbox_message');
      });

      it('an empty poll looks into the partitions above the floor, by index', async () => {
        const nodes = await explain(pollSql(snapshot(last + 1n, last + 1n), { xmax: last, xmin: last }, limit));
        byIndex(nodes);
        expect(onMessages(nodes).length).toBeLessThanOrEqual(6);
      });

      it('a poll with running transactions reads their rows by index, whatever stands between', async () => {
        const done = snapshot(last - 900n, last - 10n, [last - 900n, last - 500n]);
        const nodes = await explain(pollSql(done, { xmax: last - 20n, xmin: last - 1000n }, limit));
        // PostgreSQL 15 and 16 sort what they found.
        byIndex(nodes, 11);
        const read = onMessages(nodes).reduce((sum, node) => sum + (node['Actual Rows'] ?? 0), 0);
        expect(read).toBe(11 + 2);
      });

      it('a poll of a large backlog stops at its limit', async () => {
        const nodes = await explain(pollSql(snapshot(1000n, 1000n), { xmax: 900n, xmin: 900n }, limit));
        byIndex(nodes);
        const read = onMessages(nodes).reduce((sum, node) => sum + (node['Actual Rows'] ?? 0), 0);
        // A merge of the partitions looks at the first row of each.
        expect(read).toBeLessThanOrEqual(limit.rows + 1 + PARTITIONS + 5);
      });

      it('a page walks the primary key from the last page on', async () => {
        const window = { snapshot: snapshot(last + 1n, last + 1n), hi: last, last: 50_000n };
        const nodes = await explain(pageSql(snapshot(45_000n, 50_001n, [45_000n]), window, limit));
        byIndex(nodes);
        const read = onMessages(nodes);
        expect(new Set(read.map((node) => node['Index Name']?.replace(/\d+/, '')))).toEqual(
          new Set(['outbox_message_p_pkey']),
        );
        expect(read.reduce((sum, node) => sum + (node['Actual Rows'] ?? 0), 0)).toBe(limit.rows);
        expect(read.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0), 0)).toBe(0);
      });

      it('a page of restored rows does too', async () => {
        const window = { snapshot: snapshot(3n, 3n), hi: last, last: 50_000n };
        const nodes = await explain(foreignPageSql(window, limit));
        byIndex(nodes);
        expect(onMessages(nodes).reduce((sum, node) => sum + (node['Actual Rows'] ?? 0), 0)).toBe(limit.rows);
      });
    },
  );

  it('an insert takes its transaction id before it draws its number', async () => {
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `EXPLAIN (VERBOSE, FORMAT JSON) INSERT INTO outbox_message (id, aggregatetype, aggregateid, type, topic, partition, content_type, time, payload)
       SELECT * FROM unnest(ARRAY[gen_random_uuid()], '{a}'::text[], '{a}'::text[], '{a}'::text[], '{a}'::text[], '{0}'::int[], '{a}'::text[], ARRAY[now()], ARRAY['\\x00'::bytea])`,
    );
    const output = rows[0]?.['QUERY PLAN'][0]?.Plan.Plans?.[0]?.Output ?? [];
    expect(output.slice(0, 2)).toEqual([
      'pg_current_xact_id()',
      expect.stringMatching(/^nextval\('(public\.)?outbox_message_seq_seq'/),
    ]);
  });
});
