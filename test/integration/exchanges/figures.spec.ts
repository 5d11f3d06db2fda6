import { Metrics } from '../../../src/health';
import { PartnerFigures } from '../../../src/orders';
import { TestBatch } from '../consumer/harness';
import { answerRecord } from '../orders/orders-app';
import { type DeadlinesApp, HOUR, startDeadlines } from './deadlines-app';

describe('figures of a partner', () => {
  let app: DeadlinesApp;

  beforeAll(async () => {
    app = await startDeadlines();
  });
  afterAll(() => app.close());

  it('count what waits and what is overdue, and tell when messages last came and went', async () => {
    const [waits, silent, answered] = [await app.asked(), await app.asked(), await app.asked()];
    await app.consumer.process(
      new TestBatch([answerRecord(app.partner, answered.correlationId, { ...answered, responseCode: 'AP' })]),
    );
    await app.age(silent, 2 * HOUR);
    await app.database.transaction((tx) =>
      tx.query(`UPDATE exchange SET resends = 2 WHERE correlation_id = $1`, [silent.correlationId]),
    );
    expect(await app.watcher().pass()).toMatchObject({ overdue: 1 });
    expect(await app.ledger(waits)).toMatchObject({ state: 'awaiting' });

    const metrics = new Metrics();
    const figures = app.app.get(PartnerFigures);
    figures.show(metrics);
    await figures.read();
    const shown = await metrics.registry.metrics();
    const label = `partner="${app.partner}"`;
    expect(shown).toContain(`parley_orders_awaiting_response{${label}} 1`);
    expect(shown).toContain(`parley_orders_overdue{${label}} 1`);
    for (const direction of ['in', 'out']) {
      const name = `parley_partner_last_message_timestamp_seconds{${label},direction="${direction}"}`;
      const line = shown.split('\n').find((one) => one.startsWith(name));
      expect(Math.abs(Number(line?.split(' ')[1]) - Date.now() / 1000)).toBeLessThan(60);
    }
  });

  it('say how long a partner took, by what it answered', async () => {
    const metrics = new Metrics();
    metrics.orderObserver.answered('acme', 'accepted', 42);
    expect(await metrics.registry.metrics()).toContain(
      'parley_order_response_duration_seconds_bucket{le="60",partner="acme",outcome="accepted"} 1',
    );
  });
});
