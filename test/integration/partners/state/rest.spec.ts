import { Global, Module } from '@nestjs/common';
import { Metrics } from '../../../../src/health';
import { PartnerGauges } from '../../../../src/partners/state/partner-gauges';
import { PartnerStateController } from '../../../../src/partners/state/partner-state.controller';
import { stateProviders } from '../../../../src/partners/state/state.providers';
import { giveKey, type TestKey } from '../../../support/staff';
import { TestBatch } from '../../consumer/records';
import { answerRecord, anOrder, consumerOf, type OrdersApp, place, send, startOrders } from '../../orders/orders-app';

@Global()
@Module({ providers: [{ provide: Metrics, useFactory: () => new Metrics() }], exports: [Metrics] })
class Gauges {}

@Module({ imports: [Gauges], controllers: [PartnerStateController], providers: stateProviders(Metrics) })
class PartnerState {}

describe('the state of a partner', () => {
  let orders: OrdersApp;
  let operator: TestKey;

  beforeAll(async () => {
    orders = await startOrders({ modules: [Gauges, PartnerState] });
    operator = await giveKey(orders.database, { role: 'operator', areas: ['partners'] });
  });
  afterAll(() => orders.close());
  afterEach(() => ask('resumption', {}));

  const ask = (what: string, body: unknown, headers: Record<string, string> = {}, partner = 'acme') =>
    send(orders, 'POST', `/v1/partners/${partner}/${what}`, body, { ...operator.headers, ...headers });
  const reason = 'it moves its data centre';

  it('is changed with a reason, shown with its version, and audited', async () => {
    const paused = await ask('pause', { reason });
    expect(paused).toMatchObject({
      status: 200,
      json: { id: 'acme', state: 'paused', reason, by: operator.id, since: expect.any(String) as string },
    });
    const { version } = paused.json as { version: number };
    expect(paused.headers['etag']).toBe(`"${version}"`);
    const suspended = await ask('suspension', { reason: 'it was broken into' }, { 'if-match': `"${version}"` });
    expect(suspended).toMatchObject({ status: 200, json: { state: 'suspended', version: version + 1 } });
    const resumed = await ask('resumption', {});
    expect(resumed).toMatchObject({ status: 200, json: { state: 'active', reason: null, version: version + 2 } });
    const entries = await orders.database.query<Record<string, unknown>>(
      `SELECT caller, action, object, partner, reason, detail FROM audit_entry WHERE action LIKE 'partner.%' ORDER BY id`,
    );
    const common = { caller: operator.id, object: 'partner/acme', partner: 'acme' };
    expect(entries).toEqual([
      { ...common, action: 'partner.pause', reason, detail: { from: 'active', to: 'paused' } },
      {
        ...common,
        action: 'partner.suspend',
        reason: 'it was broken into',
        detail: { from: 'paused', to: 'suspended' },
      },
      { ...common, action: 'partner.resume', reason: null, detail: { from: 'suspended', to: 'active' } },
    ]);
  });

  it.each([
    ['pausing a suspended partner', 'suspension', 'pause'],
    ['suspending a suspended one', 'suspension', 'suspension'],
    ['pausing a paused one', 'pause', 'pause'],
    ['resuming an active one', undefined, 'resumption'],
  ])('stays as it is after %s', async (_, before, then) => {
    if (before !== undefined) await ask(before, { reason });
    const refused = await ask(then, { reason: 'again' });
    expect(refused).toMatchObject({ status: 409, json: { code: 'partner-state' } });
    if (before !== undefined) expect(refused.json['detail']).toContain(`: ${reason}.`);
  });

  it('stays as it is for who has seen another version, gives no reason, or is confined to others', async () => {
    expect(await ask('pause', { reason }, { 'if-match': '"99"' })).toMatchObject({
      status: 412,
      json: { code: 'version-stale' },
    });
    expect(await ask('pause', {})).toMatchObject({ status: 400, json: { code: 'request-invalid' } });
    const umbra = await giveKey(orders.database, { role: 'operator', partners: ['umbra'] });
    for (const [headers, partner] of [
      [umbra.headers, 'acme'],
      [{}, 'nobody'],
    ] as const) {
      expect(await ask('pause', { reason }, headers, partner)).toMatchObject({
        status: 404,
        json: { code: 'partner-not-found' },
      });
    }
    const support = await giveKey(orders.database, { role: 'support' });
    expect((await ask('pause', { reason }, support.headers)).status).toBe(403);
    expect(await ask('resumption', {})).toMatchObject({ status: 409, json: { code: 'partner-state' } });
  });

  it('lets orders be accepted, which wait, and is told in their timeline', async () => {
    await ask('suspension', { reason });
    const { orderNumber } = (await place(orders, anOrder({ partner: 'acme' }))).json as { orderNumber: string };
    const steps = async () =>
      (
        (await send(orders, 'GET', `/v1/orders/${orderNumber}/timeline`)).json['steps'] as Record<string, unknown>[]
      ).map(({ step, text }) => [step, text]);
    const stop = [
      'partner-suspended',
      expect.stringMatching(
        /^acme is suspended since \S+: it moves its data centre\. Until it is resumed nothing is sent to it/,
      ) as string,
    ];
    expect(await steps()).toEqual([
      ['placed', expect.any(String)],
      ['waiting-to-be-published', expect.any(String)],
      stop,
    ]);
    const [exchange] = await orders.database.query<{ id: string }>(
      `SELECT correlation_id AS id FROM exchange WHERE order_number = :orderNumber`,
      { orderNumber },
    );
    const consumer = await consumerOf(orders);
    const value = { orderNumber, responseCode: 'AP' } as const;
    await consumer.process(new TestBatch([answerRecord('acme', exchange?.id ?? '', value)]));
    await consumer.close();
    expect(await steps()).toEqual([
      ['placed', expect.any(String)],
      ['waiting-to-be-published', expect.any(String)],
      ['answer-waits', 'A message of acme is kept, and applied when acme is resumed.'],
      stop,
    ]);
  });

  it('is a gauge', async () => {
    await ask('pause', { reason });
    await orders.app.get(PartnerGauges).look();
    const text = await orders.app.get(Metrics).registry.metrics();
    expect(text).toContain('parley_partner_state{partner="acme",state="paused"} 1');
    expect(text).toContain('parley_partner_state{partner="umbra",state="active"} 1');
    expect(text).not.toContain('parley_partner_state{partner="acme",state="active"}');
  });
});
