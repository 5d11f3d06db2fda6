import { Claims } from '../../../src/notifications/sending/claims';
import { Expiry } from '../../../src/notifications/sending/expiry';
import { CountingProvider, httpProvider, SendingWorld, TEST_KINDS, until } from './sending-world';

let world: SendingWorld;
let url: string;
const provider = new CountingProvider();

beforeAll(async () => {
  world = await SendingWorld.open();
  url = await provider.listen();
});
afterEach(async () => {
  await world.clear();
  provider.reset();
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

const KINDS = TEST_KINDS.map(({ name }) => name);
const claim = (perSecond: number, kinds = KINDS) =>
  world.claims.claim({ provider: 'sms', slots: 100, perSecond, leaseMs: 60_000, kinds });

/** All that several processes can get in a time, by the database's clock: calls and the seconds that they took. */
async function drain(
  perSecond: number,
  processes: number,
  wanted: number,
): Promise<{ count: number; seconds: number }> {
  let count = 0;
  const began = performance.now();
  const one = async () => {
    while (count < wanted) {
      const caught = await claim(perSecond);
      count += caught?.claimed.length ?? 0;
    }
  };
  await Promise.all(Array.from({ length: processes }, one));
  return { count, seconds: (performance.now() - began) / 1000 };
}

describe('the rate of a provider', () => {
  it.each([1, 6])('holds over all processes: %i', async (processes) => {
    await world.put(400);
    await world.claims.introduce('sms', 'sms');
    const { count, seconds } = await drain(100, processes, 150);
    // A full bucket (a quarter of a second's), and what has come in since.
    expect(count).toBeLessThanOrEqual(25 + 100 * seconds + 1);
    expect(count).toBeGreaterThanOrEqual(150);
    expect(seconds).toBeGreaterThan(1.2);
    const ids = await world.database.query(`SELECT id FROM notification WHERE state = 'sending'`);
    expect(ids).toHaveLength(count);
  });

  it('leaves no more in the bucket than a quarter of a second has, however long nothing was sent', async () => {
    await world.put(400);
    await world.claims.introduce('sms', 'sms');
    await claim(100);
    await world.database.query(`UPDATE notification_provider SET refilled_at = now() - interval '1 day'`);
    const caught = await claim(100);
    expect(caught?.claimed).toHaveLength(25);
    expect(caught?.waitMs).toBeGreaterThan(0);
    expect(caught?.waitMs).toBeLessThanOrEqual(10);
  });

  it('lets a slow provider have one at a time, and says when the next is to be had', async () => {
    await world.put(3);
    await world.claims.introduce('sms', 'sms');
    expect((await claim(0.01))?.claimed).toHaveLength(1);
    const next = await claim(0.01);
    expect(next?.claimed).toEqual([]);
    expect(next?.waitMs).toBeGreaterThan(50_000);
    expect(next?.waitMs).toBeLessThanOrEqual(100_000);
  });

  it('goes on when the clock of the database is set back', async () => {
    await world.put(3);
    await world.claims.introduce('sms', 'sms');
    await world.database.query(`UPDATE notification_provider SET tokens = 0, refilled_at = now() + interval '1 hour'`);
    expect((await claim(2))?.claimed).toHaveLength(1);
  });

  it('is kept by notifiers', async () => {
    await world.put(60);
    for (let n = 0; n < 3; n++) world.notifier(() => httpProvider(url, { perSecond: 40 }));
    const began = performance.now();
    await until(async () => expect(await world.states()).toEqual({ sent: 60 }));
    // 10 at once, 50 more at 40 a second.
    expect(performance.now() - began).toBeGreaterThan(1_200);
  });
});

describe('a claim', () => {
  it('leaves kinds of another release to it', async () => {
    await world.put(1, { kind: 'of-tomorrow' });
    await world.put(1);
    await world.claims.introduce('sms', 'sms');
    expect((await claim(100))?.claimed.map(({ kind }) => kind)).toEqual(['asks']);
  });

  it('takes what is due first, and nothing that is not', async () => {
    const [late] = await world.put(1, { dueInMs: -1_000 });
    const [first] = await world.put(1, { dueInMs: -60_000 });
    await world.put(1, { dueInMs: 60_000 });
    await world.claims.introduce('sms', 'sms');
    expect((await claim(4))?.claimed.map(({ id }) => id)).toEqual([first]);
    await until(async () => {
      const caught = (await claim(4))?.claimed ?? [];
      expect(caught.map(({ id }) => id)).toEqual([late]);
    });
  });
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

describe('among a million notifications of which ten thousand wait', () => {
  beforeAll(async () => {
    for (let part = 0; part < 5; part++)
      await world.database.query(
        `INSERT INTO notification (id, event_id, kind, channel, provider, address, data, state, happened_at, created_at, next_attempt_at, expires_at, settled_at)
       SELECT gen_random_uuid(), 'plan/' || :part::int || n, 'asks', 'sms', CASE WHEN n % 3 = 0 THEN 'email' ELSE 'sms' END, 'a', '{}', CASE WHEN n % 100 = 0 THEN 'pending' ELSE 'sent' END,
         now(), now(), now() - interval '1 minute', now() + interval '1 hour', CASE WHEN n % 100 > 0 THEN now() END
       FROM generate_series(1, 200000) n`,
        { part },
      );
    await world.database.query('ANALYZE notification');
  }, 120_000);

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
        !/^(Index (Only )?Scan|ModifyTable)$/.test(node['Node Type']) ||
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
    expect(plans.join('\n')).toContain('Index Scan using notification_expiry');
    expect(plans.join('\n')).not.toContain('Seq Scan');
  });
});
