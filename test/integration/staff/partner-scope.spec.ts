import { Notifications } from '../../../src/notifications';
import { Database } from '../../../src/platform/database';
import { openApi } from '../../../src/platform/http';
import { createLogger } from '../../../src/platform/telemetry';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { type NamedOperation, operationsOf } from '../../support/operations';
import { giveKey, type TestKey } from '../../support/staff';
import { TestBatch } from '../consumer/records';
import { addPartner, anOrder, answerRecord, consumerOf, place, send } from '../orders/orders-app';

// Made from the API description of the whole program, with one thing of acme's behind each path: an operation that comes is tried, too.
describe('an administrator who is confined to another partner', () => {
  let running: Running;
  let database: Database;
  let operations: NamedOperation[];
  let all: TestKey;
  let confined: TestKey;
  let order: string;
  /** What stands for a path's parameters. */
  let known: Record<string, string>;

  beforeAll(async () => {
    running = await start(testConfig(await freshDatabase(), { ROLES: 'api' }), createLogger('silent', 'test'));
    await running.started;
    database = running.app.get(Database);
    operations = operationsOf(openApi(running.app));
    for (const id of ['acme', 'umbra']) await addPartner(database, id, 'json');
    all = await giveKey(database);
    confined = await giveKey(database, { partners: ['umbra'] });
    known = await acme();
  });
  afterAll(() => running?.lifecycle.stop('test'));

  /** An order of acme's, and an answer of acme's that could not be read. */
  async function acme(): Promise<Record<string, string>> {
    const orders = { app: running.app, key: all, database, wakes: () => 0, close: () => Promise.resolve() };
    const body = anOrder();
    order = String(body['orderNumber']);
    expect((await place(orders, body)).status).toBe(201);
    const record = answerRecord('acme', 'none', { orderNumber: order, responseCode: 'AP' });
    const consumer = await consumerOf(orders);
    const theirs = answerRecord('umbra', 'none', { orderNumber: 'of-umbra', responseCode: 'AP' });
    // One cause, and a note about it that speaks of acme.
    for (const unreadable of [theirs, record])
      await consumer.process(new TestBatch([{ ...unreadable, value: Buffer.from('{') }]));
    await consumer.close();
    const [dead] = (await send(orders, 'GET', '/v1/dead-letters')).json['items'] as { id: string }[];
    const [group] = (await send(orders, 'GET', '/v1/dead-letter-groups')).json['items'] as { fingerprint: string }[];
    const cause = `/v1/dead-letter-groups/${String(group?.fingerprint)}`;
    const note = { assignee: 'acme-desk', note: 'acme mends its export' };
    expect(await send(orders, 'PATCH', cause, note, { 'if-match': '"0"' })).toMatchObject({
      json: { partnerCount: 2, ...note },
    });
    const exchange = (await send(orders, 'GET', `/v1/orders/${order}/exchanges`)).json;
    const [{ correlationId }] = (exchange['items'] ?? exchange['exchanges']) as [{ correlationId: string }];
    const told = {
      id: `order/${order}/2`,
      kind: 'order-accepted',
      at: new Date(),
      partner: 'acme',
      orderNumber: order,
    };
    const data = { orderNumber: order, partner: { id: 'acme', name: 'Acme Ltd' }, at: told.at.toISOString() };
    const to = { channel: 'email', address: 'ops@example.com' } as const;
    await database.transaction((tx) => running.app.get(Notifications).raise(tx, [{ ...told, data, to }], told.at));
    const [letter] = (await send(orders, 'GET', '/v1/notifications')).json['items'] as { id: string }[];
    const receiver = { name: 'Purchasing for acme', email: 'ops@example.com', subscriptions: [] };
    expect((await send(orders, 'PUT', '/v1/notification-receivers/ops-desk', receiver)).status).toBe(201);
    return {
      ...{ orderNumber: order, fingerprint: String(group?.fingerprint), correlationId, topic: record.topic },
      ...{ '/v1/dead-letters': String(dead?.id), '/v1/parked': String(dead?.id), '/v1/partners': 'acme' },
      ...{ '/v1/notifications': String(letter?.id), '/v1/notification-receivers': 'ops-desk', name: 'email' },
    };
  }

  const urlOf = ({ path }: NamedOperation): string =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(known[name] ?? known[path.split('/').slice(0, 3).join('/')] ?? '0'),
    );
  const ask = async (operation: NamedOperation, { headers }: TestKey) => {
    const { method, body } = operation;
    const answer = await running.app.inject({
      ...{ method, url: urlOf(operation) },
      headers: {
        ...headers,
        'idempotency-key': `${operation.name} ${headers.authorization.slice(-8)}`,
        'if-match': '"1"',
      },
      ...(method === 'GET' ? {} : { payload: body as object }),
    });
    return { status: answer.statusCode, text: answer.body };
  };
  const state = async () =>
    database.query(
      `SELECT (SELECT jsonb_agg(p ORDER BY id) FROM partner p) AS partners, (SELECT jsonb_agg(o) FROM orders o) AS orders,
              (SELECT jsonb_agg(c ORDER BY id) FROM channel c) AS channels, (SELECT jsonb_agg(d) FROM parked_inbound d WHERE partner = 'acme') AS parked,
              (SELECT jsonb_agg(g) FROM failure_group g) AS groups,
              (SELECT jsonb_agg(e) FROM exchange e) AS exchanges,
              (SELECT jsonb_agg(n) FROM notification n) AS notifications, (SELECT jsonb_agg(r) FROM notification_receiver r) AS receivers,
              (SELECT count(*) FROM outbox_message) AS outbox`,
    );
  const isOfAcme = ({ status, text }: { status: number; text: string }) =>
    status < 300 && (text.includes('acme') || text.includes(order));

  it('would be shown things of acme, were it not confined', async () => {
    const shown: string[] = [];
    for (const operation of operations.filter(({ method }) => method === 'GET'))
      if (isOfAcme(await ask(operation, all))) shown.push(operation.name);
    expect(shown.length).toBeGreaterThan(10);
  });

  it('is shown nothing of acme by any operation, and changes nothing of acme by any', async () => {
    const before = await state();
    for (const operation of operations) {
      const answer = await ask(operation, confined);
      expect([operation.name, isOfAcme(answer), answer.status < 500]).toEqual([operation.name, false, true]);
    }
    expect(await state()).toEqual(before);
  });
});
