import { audit, type Caller } from '../../../src/staff';
import { giveKey } from '../../support/staff';
import { type OrdersApp, send, startOrders } from '../orders/orders-app';

describe('the audit', () => {
  let orders: OrdersApp;
  const by: Caller = { id: 'key_a', name: 'desk', role: 'support', areas: null, partners: null, origin: '10.0.0.7' };
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute));

  beforeAll(async () => {
    orders = await startOrders();
    await orders.database.transaction(async (tx) => {
      await audit(
        tx,
        { by, action: 'dead-letter.discard', object: 'dead-letter/1', partner: 'acme', reason: 'twice' },
        at(0),
      );
      await audit(tx, { by, action: 'dead-letter.restore', object: 'dead-letter/1', partner: 'acme' }, at(1));
      await audit(
        tx,
        {
          by: { ...by, id: 'key_b' },
          action: 'dead-letter.discard',
          object: 'dead-letter/2',
          partner: 'umbra',
          detail: { n: 1 },
        },
        at(2),
      );
    });
  });
  afterAll(() => orders.close());

  const list = async (query: string, headers: Record<string, string> = {}) => {
    const { status, json } = await send(orders, 'GET', `/v1/audit?${query}`, undefined, headers);
    return { status, items: (json['items'] ?? []) as Record<string, unknown>[], json };
  };
  const objects = async (query: string) =>
    (await list(query)).items.map(({ action, object }) => `${String(action)} ${String(object)}`);

  it.each([
    ['UPDATE', `UPDATE audit_entry SET reason = 'another'`],
    ['an UPDATE of nothing', `UPDATE audit_entry SET reason = 'another' WHERE false`],
    ['DELETE', 'DELETE FROM audit_entry'],
    ['TRUNCATE', 'TRUNCATE audit_entry'],
  ])('refuses %s', async (_, sql) => {
    await expect(orders.database.query(sql)).rejects.toThrow('audit entries are neither changed nor deleted');
  });

  it('is read newest first, by caller, action, object, partner, role and time', async () => {
    expect(await objects('caller=key_a')).toEqual([
      'dead-letter.restore dead-letter/1',
      'dead-letter.discard dead-letter/1',
    ]);
    expect(await objects('action=dead-letter.discard')).toEqual([
      'dead-letter.discard dead-letter/2',
      'dead-letter.discard dead-letter/1',
    ]);
    expect(await objects('object=dead-letter/1&action=dead-letter.discard')).toEqual([
      'dead-letter.discard dead-letter/1',
    ]);
    expect(await objects('partner=acme&action=dead-letter.discard')).toEqual(['dead-letter.discard dead-letter/1']);
    expect(await objects('partner=acme&role=support')).toHaveLength(2);
    expect(await objects('partner=acme&role=admin')).toEqual([]);
    expect(await objects(`caller=key_b&since=${at(2).toISOString()}`)).toHaveLength(1);
    expect(await objects(`caller=key_b&since=${at(3).toISOString()}`)).toEqual([]);
    expect((await list('caller=key_b')).items).toEqual([
      {
        ...{
          id: expect.any(String) as string,
          at: at(2).toISOString(),
          caller: 'key_b',
          callerName: 'desk',
          role: 'support',
        },
        ...{ action: 'dead-letter.discard', object: 'dead-letter/2', partner: 'umbra', reason: null, detail: { n: 1 } },
        origin: '10.0.0.7',
      },
    ]);
  });

  it('is read page by page with the same filter', async () => {
    const first = await send(orders, 'GET', '/v1/audit?caller=key_a&limit=1');
    const next = /<(.*)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? '';
    expect(next).toContain('caller=key_a');
    const second = await send(orders, 'GET', next);
    expect(second.json).toMatchObject({ items: [{ action: 'dead-letter.discard' }], nextCursor: null });
  });

  it.each(['since=yesterday', 'limit=0', 'cursor=eA', 'caller=', 'partner=A', 'role=root', 'unknown=1'])(
    'refuses %s',
    async (query) => {
      expect((await list(query)).status).toBe(400);
    },
  );

  it('shows a key that is confined to a partner what concerns this partner', async () => {
    const { headers } = await giveKey(orders.database, { areas: ['staff'], partners: ['umbra'] });
    expect((await list('limit=200', headers)).items.map(({ partner }) => partner)).toEqual(['umbra']);
  });
});
