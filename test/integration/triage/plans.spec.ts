import { FailureCounts } from '../../../src/messaging/triage/failure-counts';
import { IndexedReader } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { ask, startTriage, type TriageApp } from './triage-app';

/** Open dead letters, resolved ones beside them, and messages that wait. */
const [OPEN, RESOLVED, WAITING] = [4_000, 40_000, 1_000];

describe('the cost of lists', () => {
  let triage: TriageApp;

  beforeAll(async () => {
    triage = await startTriage();
    // The open ones first: who looks for them from the newest on walks all that is resolved.
    for (const [state, from, rows] of [
      ['dead', 0, OPEN],
      ['waiting', OPEN, WAITING],
      ['discarded', OPEN + WAITING, RESOLVED],
    ]) {
      await triage.database.transaction(async (tx) => {
        // A page is marked as vacuumed only when the commits of its rows are on the disk.
        await tx.query('SET LOCAL synchronous_commit = on');
        await tx.query(
          `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, type, header_names, header_values, raw_value,
             code, fingerprint, parked_at, first_failed_at, last_failed_at, next_attempt_at, resolved_at)
           SELECT CASE n % 2 WHEN 0 THEN 'acme' ELSE 'umbra' END, 'k-' || n, $1, 1 + n % 2, 'i-' || n, 't-' || n % 3, 0, n, now(), 'type', '{}', '{}', repeat('x', 300)::bytea,
             'code-' || n % 7, 'cause-' || n % 20, now(), now(), now(), CASE $1 WHEN 'waiting' THEN now() END, CASE $1 WHEN 'discarded' THEN now() END
           FROM generate_series($2::int + 1, $2::int + $3::int) n`,
          [state, from, rows],
        );
      });
    }
    // As autovacuum leaves it (the table asks for it often): an index alone answers only for pages that were vacuumed.
    await eventually(
      async () => {
        await triage.database.dataSource.query('VACUUM (ANALYZE) parked_inbound');
        const [row] = await triage.database.query<{ vacuumed: number }>(
          `SELECT relallvisible / relpages::float AS vacuumed FROM pg_class WHERE relname = 'parked_inbound'`,
        );
        return (row?.vacuumed ?? 0) > 0.99;
      },
      { timeout: 40_000, what: 'every page vacuumed' },
    );
  });
  afterAll(() => triage.close());

  interface PlanNode {
    'Node Type': string;
    'Relation Name'?: string;
    'Rows Removed by Filter'?: number;
    'Heap Fetches'?: number;
    'Shared Hit Blocks': number;
    'Shared Read Blocks': number;
    Plans?: PlanNode[];
  }
  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

  /** Does the work again as EXPLAIN ANALYZE of each statement that it asked, and returns their plans. */
  async function plansOf(work: () => Promise<unknown>): Promise<PlanNode[]> {
    const asked = jest.spyOn(IndexedReader.prototype, 'rows');
    await work();
    const statements = [...asked.mock.calls];
    asked.mockRestore();
    const reader = new IndexedReader(triage.database);
    const plans: PlanNode[] = [];
    for (const [sql, values] of statements) {
      const [row] = await reader.rows<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
        values,
      );
      plans.push(...(row?.['QUERY PLAN'] ?? []).map(({ Plan }) => Plan));
    }
    expect(plans.length).toBeGreaterThan(0);
    return plans;
  }

  function expectIndexed(plans: readonly PlanNode[], most: number): void {
    const nodes = plans.flatMap(nodesOf);
    const walks = nodes.filter(
      (node) => node['Relation Name'] === 'parked_inbound' && /^(Seq|Bitmap Heap) Scan/.test(node['Node Type']),
    );
    expect(walks).toEqual([]);
    expect(nodes.filter((node) => (node['Rows Removed by Filter'] ?? 0) > 100)).toEqual([]);
    expect(Math.max(...nodes.map((node) => node['Heap Fetches'] ?? 0))).toBeLessThan(100);
    const blocks = plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0);
    expect(blocks).toBeLessThan(most);
  }

  // Of what none is found, the index of all that is open is read to its end: 30 blocks.
  it.each([
    ['/v1/dead-letters?limit=50', 400],
    ['/v1/dead-letters?limit=50&partner=acme&topic=t-1&code=code-3', 400],
    ['/v1/dead-letters?limit=50&code=none', 60],
    ['/v1/dead-letters?limit=50&since=2031-01-01T00:00:00Z', 60],
    ['/v1/dead-letters?limit=50&fingerprint=cause-7', 400],
    ['/v1/dead-letters?limit=50&order=k-17', 60],
    ['/v1/dead-letters?limit=50&state=resolved&topic=none', 600],
    ['/v1/dead-letter-groups?limit=50', 250],
    ['/v1/dead-letter-groups?limit=50&state=all', 600],
    ['/v1/dead-letter-groups/cause-7', 40],
    ['/v1/parked?limit=50', 400],
    ['/v1/parked?limit=50&partner=umbra&state=waiting', 400],
    ['/v1/parked?limit=50&key=k-17', 60],
  ])('%s reads what it shows, and indexes', async (url, most) => {
    const plans = await plansOf(async () => {
      expect(await ask(triage, 'viewer', `GET ${url}`)).toMatchObject({ status: 200 });
    });
    expectIndexed(plans, most);
  });

  it('counts for the gauges from indexes alone', async () => {
    expectIndexed(await plansOf(() => triage.app.get(FailureCounts).count()), 80);
  });
});
