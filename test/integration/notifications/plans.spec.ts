import { Claims } from '../../../src/notifications/sending/claims';
import { Expiry } from '../../../src/notifications/sending/expiry';
import { SendingWorld, TEST_KINDS } from './sending-world';

/** Of which one in a hundred waits; a million by hand (NOTIFICATION_ROWS=1000000): what is counted here is the same. */
const ROWS = Number(process.env['NOTIFICATION_ROWS'] ?? 100_000);
const KINDS = TEST_KINDS.map(({ name }) => name);

let world: SendingWorld;

beforeAll(async () => {
  world = await SendingWorld.open();
  // Else it would learn about them while they are looked at.
  await world.database.query('ALTER TABLE notification SET (autovacuum_enabled = off)');
});
afterAll(() => world.close());

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

describe.each(['before anything is known of them', 'as they are known'])('among many notifications, %s', (when) => {
  beforeAll(async () => {
    if (when === 'as they are known') await world.database.query('ANALYZE notification');
    else
      await world.database.query(
        `INSERT INTO notification (id, event_id, kind, channel, provider, address, data, state, happened_at, created_at, next_attempt_at, expires_at, settled_at)
       SELECT gen_random_uuid(), 'plan/' || n, 'asks', 'sms', CASE WHEN n % 3 = 0 THEN 'email' ELSE 'sms' END, 'a', '{}', CASE WHEN n % 100 = 0 THEN 'pending' ELSE 'sent' END,
         now(), now(), now() - interval '1 minute', now() + interval '1 hour', CASE WHEN n % 100 > 0 THEN now() END
       FROM generate_series(1, ${ROWS}) n`,
      );
  });

  /** Whatever the room's classes ask, explained as they ask it. */
  async function plansOf(work: (spy: SendingWorld['database']) => Promise<unknown>): Promise<PlanNode[]> {
    const nodes: PlanNode[] = [];
    const walk = (node: PlanNode): void => {
      nodes.push(node);
      node.Plans?.forEach(walk);
    };
    const query = async (sql: string, values: Record<string, unknown>) => {
      const rows = await world.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
        values,
      );
      rows.flatMap((row) => row['QUERY PLAN']).forEach(({ Plan }) => walk(Plan));
      return [];
    };
    await work({ query } as unknown as SendingWorld['database']);
    return nodes.filter((node) => node['Relation Name'] === 'notification');
  }

  it('a claim, a look for what is due and one for lapsed leases read what they take, by an index', async () => {
    await world.claims.introduce('sms', 'sms');
    const nodes = await plansOf(async (spy) => {
      const claims = new Claims(spy);
      await claims.claim({ provider: 'sms', slots: 8, perSecond: 10_000, leaseMs: 60_000, kinds: KINDS });
      await claims.due();
      await claims.recover();
    });
    expect(nodes.length).toBeGreaterThan(4);
    const dear = nodes.filter(
      (node) =>
        !/^((Index|Index Only|Bitmap Heap) Scan|ModifyTable)$/.test(node['Node Type']) ||
        (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) > 20,
    );
    expect(dear).toEqual([]);
  });

  it('what has expired is found by an index, whatever waits behind it', async () => {
    const plans: string[] = [];
    const manager = {
      query: async (sql: string, parameters: unknown[]) => {
        const rows = await world.dataSource.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${sql}`, parameters);
        plans.push(...rows.map((row) => row['QUERY PLAN']));
        return [];
      },
    };
    const spy = { transaction: (work: (tx: unknown) => Promise<unknown>) => work(manager) };
    await new Expiry(spy as unknown as SendingWorld['database'], TEST_KINDS, world.observer).pass();
    expect(plans.join('\n')).toMatch(/Index Scan (using|on) notification_expiry/);
    expect(plans.join('\n')).not.toContain('Seq Scan');
  });
});
