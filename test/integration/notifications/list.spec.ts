import 'reflect-metadata';
import type { NotificationFilter } from '../../../src/notifications/reading/notification-list';
import { IndexedReader } from '../../../src/platform/database';
import { eventually } from '../../support/eventually';
import { accepted, type CoreStage, minutes, NOW, openCore } from './core-stage';

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Heap Fetches'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

const ROWS = 60_000;

describe('the list of notifications', () => {
  let core: CoreStage;

  beforeAll(async () => {
    core = await openCore();
    await core.database.transaction(async (tx) => {
      // A page is marked as vacuumed only when the commits of its rows are on the disk.
      await tx.query('SET LOCAL synchronous_commit = on');
      await tx.query(
        `INSERT INTO notification (id, event_id, kind, channel, provider, receiver, address, partner, order_number, data, state, happened_at, created_at,
           next_attempt_at, expires_at, settled_at)
         SELECT gen_random_uuid(), 'e' || n, CASE WHEN n % 30000 = 7 THEN 'rare' ELSE 'kind-' || n % 5 END, CASE n % 3 WHEN 0 THEN 'email' WHEN 1 THEN 'sms' ELSE 'webhook' END,
           'email', 'r-' || n % 20, 'someone@example.com', CASE n % 2 WHEN 0 THEN 'acme' ELSE 'umbra' END, 'PO-' || n / 3, jsonb_build_object('text', repeat('x', 300)),
           CASE WHEN n % 20000 = 1 THEN 'failed' WHEN n % 100 = 0 THEN 'pending' ELSE 'sent' END, now(), $2::timestamptz + n / 2 * interval '1 ms', now(), now(), now()
         FROM generate_series(1, $1::int) n`,
        [ROWS, NOW],
      );
    });
    await eventually(
      async () => {
        await core.database.dataSource.query('VACUUM (ANALYZE) notification');
        const [row] = await core.rows<{ vacuumed: number }>(
          `SELECT relallvisible / relpages::float AS vacuumed FROM pg_class WHERE relname = 'notification'`,
        );
        return (row?.vacuumed ?? 0) > 0.99;
      },
      { timeout: 40_000, what: 'every page vacuumed' },
    );
  });
  afterAll(() => core.close());

  /** Every page of it. */
  const walk = async (filter: NotificationFilter, limit: number, scope: readonly string[] | null = null) => {
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await core.list.page(filter, scope, limit, cursor ?? undefined);
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    return ids;
  };
  const expected = async (condition: string) =>
    (
      await core.rows<{ id: string }>(
        `SELECT id FROM notification WHERE ${condition} ORDER BY created_at DESC, id DESC`,
      )
    ).map(({ id }) => id);

  it.each([
    [{ order: 'PO-17' }, `order_number = 'PO-17'`],
    [{ state: 'failed' }, `state = 'failed'`],
    [{ kind: 'rare' }, `kind = 'rare'`],
    [{ kind: 'rare', channel: 'sms', partner: 'umbra' }, `kind = 'rare' AND channel = 'sms' AND partner = 'umbra'`],
    [
      { receiver: 'r-7', state: 'pending', kind: 'kind-0' },
      `receiver = 'r-7' AND state = 'pending' AND kind = 'kind-0'`,
    ],
    [{ receiver: 'r-0', state: 'pending' }, `receiver = 'r-0' AND state = 'pending'`],
  ] satisfies [NotificationFilter, string][])('shows of %j each one once, newest first', async (filter, condition) => {
    const ids = await expected(condition);
    expect(await walk(filter, 7 + Math.floor(ids.length / 10))).toEqual(ids);
  });

  it('shows a confined caller what concerns its partners, and nothing that concerns none', async () => {
    await core.put({
      id: 'desk',
      email: 'a@example.com',
      subscriptions: [{ kind: 'order-accepted', channels: ['email'], partners: null }],
    });
    await core.raise(accepted(1, { partner: undefined }), accepted(2));
    expect(await walk({ kind: 'order-accepted' }, 50)).toHaveLength(2);
    const [acme, ...others] = await walk({ kind: 'order-accepted' }, 50, ['acme', 'globex']);
    expect(others).toEqual([]);
    expect(await walk({ kind: 'order-accepted', partner: 'acme' }, 50, ['umbra'])).toEqual([]);
    expect(await core.list.find(acme ?? '', ['umbra'])).toBeUndefined();
    expect(await core.list.find(acme ?? '', ['acme'])).toMatchObject({
      receiverName: 'Receiver desk',
      history: [],
    });
    expect(await core.list.find('nonsense', null)).toBeUndefined();
    await expect(core.list.page({}, null, 10, 'nonsense')).rejects.toMatchObject({ code: 'cursor-invalid' });
  });

  it('tells of one all that was tried', async () => {
    const [id = ''] = await walk({ kind: 'rare' }, 50);
    await core.database.transaction((tx) =>
      tx.query(
        `INSERT INTO notification_attempt VALUES ($1, 2, 'look-up', $2, NULL, NULL, NULL, NULL, NULL, 'n2'), ($1, 1, 'send', $2, $3, 'later', 'busy', 'Busy.', 'ref', 'n1')`,
        [id, NOW, minutes(1)],
      ),
    );
    const none = { endedAt: null, outcome: null, code: null, detail: null, providerReference: null };
    expect((await core.list.find(id, null))?.history).toEqual([
      {
        number: 1,
        action: 'send',
        begunAt: NOW,
        endedAt: minutes(1),
        outcome: 'later',
        code: 'busy',
        detail: 'Busy.',
        providerReference: 'ref',
        notifier: 'n1',
      },
      { number: 2, action: 'look-up', begunAt: NOW, ...none, notifier: 'n2' },
    ]);
  });

  it('gives an order its notifications, oldest first, without an address', async () => {
    const notes = await core.notifications.ofOrder('PO-17', { partners: null });
    expect(notes).toHaveLength(3);
    expect(notes.map(({ id }) => id).sort()).toEqual((await expected(`order_number = 'PO-17'`)).sort());
    expect(JSON.stringify(notes)).not.toContain('example.com');
    expect(await core.notifications.ofOrder('PO-none', { partners: null })).toEqual([]);
  });

  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

  it.each<[NotificationFilter, number]>([
    [{}, 400],
    [{ order: 'PO-17' }, 60],
    [{ state: 'failed' }, 80],
    [{ state: 'unknown' }, 20],
    [{ kind: 'kind-3', channel: 'sms' }, 400],
    [{ partner: 'acme', state: 'sent' }, 400],
    [{ receiver: 'r-7' }, 500],
    [{ receiver: 'r-none' }, 1200],
    [{ kind: 'rare' }, 1200],
  ])('of %j is read from indexes alone, in fewer than %i blocks', async (filter, most) => {
    const asked = jest.spyOn(IndexedReader.prototype, 'rows');
    await core.list.page(filter, null, 50);
    const [[sql, values] = ['', {}]] = asked.mock.calls;
    asked.mockRestore();
    const [row] = await new IndexedReader(core.database).rows<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
      values,
    );
    const plan = row?.['QUERY PLAN'][0].Plan as PlanNode;
    const nodes = nodesOf(plan);
    expect(nodes.filter((node) => /^(Seq|Bitmap Heap) Scan/.test(node['Node Type']))).toEqual([]);
    expect(Math.max(...nodes.map((node) => node['Heap Fetches'] ?? 0))).toBeLessThan(100);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(most);
  });
});
