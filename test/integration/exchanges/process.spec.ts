import 'reflect-metadata';
import { Client } from 'pg';
import { CONTRACTS, contractsFor, orderResponse, toHeaders, topicFor, typeOf } from '../../../src/contracts';
import { Database } from '../../../src/platform/database';
import { createLogger } from '../../../src/platform/telemetry';
import { type Running, start } from '../../../src/start';
import { testConfig } from '../../support/config';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { createTopic, produce, readAll, uniqueName } from '../../support/kafka';
import { giveKeyAt } from '../../support/staff';
import { addPartner, anOrder } from '../orders/orders-app';
import { mixOf, start as startPartner } from '../simulator/fixture';

/** Everything about the order's request happened two hours ago. */
const AGE = [
  `UPDATE exchange SET opened_at = opened_at - interval '2 hours', deadline = deadline - interval '2 hours', look_at = look_at - interval '2 hours'`,
  `UPDATE outbox_receipt SET sent_at = sent_at - interval '2 hours'`,
  'UPDATE reply_watch SET judged_up_to = NULL',
];

describe('an order that its partner does not answer', () => {
  let running: Running | undefined;
  const begin = async (url: string, group: string): Promise<Running> => {
    running = await start(testConfig(url, { KAFKA_CONSUMER_GROUP: group }), createLogger('silent', 'test'));
    await running.started;
    return running;
  };
  const end = async () => {
    await running?.lifecycle.stop('test');
    running = undefined;
  };
  afterEach(end);

  it('is sent again by another process than placed it; the partner sees one request, and its late answer is applied', async () => {
    const url = await freshDatabase();
    const client = new Client({ connectionString: url });
    await client.connect();
    const sql = async <Row>(text: string) => (await client.query(text)).rows as Row[];
    try {
      const [id, group] = [uniqueName('acme'), uniqueName('group')];
      const topics = { requests: `orders.${id}.request.v1`, responses: `orders.${id}.response.v1` };
      const names = new Set(contractsFor(CONTRACTS, id).map((contract) => topicFor(contract, id)));
      for (const name of names) await createTopic(name, { exact: true, partitions: 4 });
      const first = await begin(url, group);
      await addPartner(first.app.get(Database), id, 'json');
      const partner = startPartner(id, { mix: mixOf('silent') });
      const key = await giveKeyAt(url);
      const order = anOrder({ partner: id });
      const placed = await fetch(`${first.apiUrl}/v1/orders`, {
        method: 'POST',
        headers: { ...key.headers, 'content-type': 'application/json', 'idempotency-key': 'k' },
        body: JSON.stringify(order),
      });
      expect(placed.status).toBe(201);
      await eventually(() => partner.statistics.seen === 1, { what: 'the partner has the order' });
      await eventually(async () => (await sql('SELECT FROM outbox_receipt')).length === 1, { what: 'its receipt' });
      // A deploy: nothing of the exchange is in anybody's memory any more.
      await end();
      for (const statement of AGE) await sql(statement);
      const second = await begin(url, group);

      await eventually(() => partner.statistics.seen === 2, { what: 'the order is sent again' });
      expect(partner.statistics).toMatchObject({ repeated: 1 });
      const records = await readAll(topics.requests);
      const of = (name: string) => records.map(({ headers }) => headers[name]?.toString());
      for (const header of ['ce_id', 'ce_correlationid', 'ce_type', 'ce_time'])
        expect(new Set(of(header)).size).toBe(1);
      expect(records.map(({ value, key, partition }) => [value, key, partition])[1]).toEqual(
        records.map(({ value, key, partition }) => [value, key, partition])[0],
      );

      const [correlationId = ''] = of('ce_correlationid');
      const { orderNumber } = order as { orderNumber: string };
      const time = new Date().toISOString();
      const envelope = { id: 'late', source: '/partner', type: typeOf(orderResponse), time, correlationId };
      const value = JSON.stringify({ orderNumber, responseCode: 'AP', issuedAt: time });
      await produce(topics.responses, [{ key: orderNumber, value, headers: toHeaders(envelope) }]);
      const show = async (path = '') =>
        (await fetch(`${second.apiUrl}/v1/orders/${orderNumber}${path}`, { headers: key.headers })).json() as Promise<
          Record<string, unknown>
        >;
      await eventually(async () => (await show())['state'] === 'accepted', { what: 'the late answer is applied' });
      const steps = (await show('/timeline'))['steps'] as { text: string }[];
      expect(steps.at(-1)?.text).toBe(`${id} accepted the order, after the deadline.`);
      // The receipt comes after the record, and figures after the commit.
      const sent = [{ offset: '0' }, { offset: '1' }];
      await eventually(async () => {
        expect((await show('/exchanges'))['items']).toMatchObject([{ state: 'answered', resends: 1, sent }]);
        return true;
      });
      const count = `parley_order_response_duration_seconds_count{partner="${id}",outcome="accepted"} 1`;
      await eventually(async () => (await (await fetch(`${second.managementUrl}/metrics`)).text()).includes(count), {
        what: count,
      });
    } finally {
      await client.end();
    }
  });
});
