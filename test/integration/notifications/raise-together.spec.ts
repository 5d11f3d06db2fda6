import 'reflect-metadata';
import type { NotificationEvent } from '../../../src/notifications';
import { INSERT } from '../../../src/notifications/raising/new-notification';
import { named } from '../../../src/platform/database/named';
import { accepted, type CoreStage, message, minutes, openCore } from './core-stage';

interface PlanNode {
  'Node Type': string;
  'Join Type'?: string;
  'Function Name'?: string;
  Plans?: PlanNode[];
}

describe('what is raised together', () => {
  let core: CoreStage;

  beforeAll(async () => {
    core = await openCore();
    for (const [id, time] of [
      ['desk', null],
      ['twin', null],
      ['night', { from: '11:30', to: '12:30', timeZone: 'Europe/Berlin' }],
    ] as const) {
      await core.put({
        id,
        // The same for all: an address alone doesn't tell receivers apart.
        email: 'all@example.com',
        phone: '+4930123456',
        webhookUrl: 'https://all.example.com/hook',
        quietHours: time,
        subscriptions: ['order-accepted', 'order-rejected', 'order-overdue'].map((kind) => ({
          kind,
          channels: ['email', 'sms', 'webhook'] as const,
          partners: null,
        })),
      });
    }
  });
  afterAll(() => core.close());
  beforeEach(() => core.database.transaction((tx) => tx.query('DELETE FROM notification')));

  const rows = () => core.rows(`SELECT *, encode(request_hash, 'hex') AS hash FROM notification ORDER BY id`);

  it('is the same as told one by one, whatever events have in common', async () => {
    const events: NotificationEvent[] = [
      accepted(1),
      accepted(2),
      accepted(3, { partner: 'umbra' }),
      accepted(4, { partner: undefined }),
      accepted(5, { orderNumber: undefined }),
      accepted(6, { at: minutes(-1) }),
      accepted(7, { expiresAt: minutes(1) }),
      accepted(8, { expiresAt: minutes(2) }),
      accepted(23, { expiresAt: minutes(2), at: minutes(-1) }),
      accepted(9, {
        kind: 'order-rejected',
        data: { ...accepted(9).data, reason: 'NUL \0, "quotes", {braces}, \ud800, \\u0000' },
      }),
      accepted(10, { kind: 'order-rejected', data: { ...accepted(10).data, reason: 'another' } }),
      ...Array.from({ length: 12 }, (_, n) => accepted(11 + n, { at: minutes(-n) })),
      message('a', 'aa'),
      message('b', 'bb'),
      message('c', 'aa', { to: { channel: 'email', address: 'other@example.com' } }),
      message('d', 'aa', { to: { receiver: 'desk' } }),
    ];
    for (const event of events) await core.raise(event);
    const apart = await rows();
    await core.database.transaction((tx) => tx.query('DELETE FROM notification'));
    expect(await core.raise(...events)).toBe(apart.length);
    expect(await rows()).toEqual(apart);
  });

  it('is joined with what it has in common in one pass, by a plan that is kept for any number', async () => {
    const columns = [...new Set(Array.from(INSERT.matchAll(/(?<!:):([a-z]\w*)/gi), ([, name = '']) => name))];
    const [text] = named(INSERT, Object.fromEntries(columns.map((name) => [name, null])));
    const plan = await core.database.transaction(async (tx) => {
      await tx.query('SET LOCAL plan_cache_mode = force_generic_plan');
      await tx.query(`PREPARE telling AS ${text}`);
      const values = columns.map(() => 'NULL').join(', ');
      const [row] = await tx.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
        `EXPLAIN (FORMAT JSON) EXECUTE telling (${values})`,
      );
      return row?.['QUERY PLAN'][0]?.Plan;
    });
    const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
    const joins = nodesOf(plan as PlanNode).filter((node) => node['Join Type'] === 'Full');
    expect(joins.map((node) => node['Node Type'])).toEqual([expect.stringMatching(/^(Hash Join|Merge Join)$/)]);
  });
});
