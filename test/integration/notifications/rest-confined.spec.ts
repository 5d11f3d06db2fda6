import { giveKey } from '../../support/staff';
import { anAcceptance, aRequest, errorOf, itemsOf, type RestApp, startRest } from './rest-app';

const reason = { reason: 'asked by the buyer' };

describe('notifications over REST, for who is confined to some partners', () => {
  let rest: RestApp;
  beforeAll(async () => {
    rest = await startRest();
  });
  afterAll(() => rest.close());

  it('name no receiver, and are not found by one', async () => {
    await rest.put('hidden', { name: 'Hidden desk', webhookUrl: 'https://127.0.0.1:8443/hooks' });
    const event = anAcceptance({ to: { receiver: 'hidden' } });
    await rest.raise(event);
    const acme = await giveKey(rest.database, { role: 'support', partners: ['acme'] });
    const page = await rest.ask(acme, `GET /v1/notifications?order=${event.orderNumber}`);
    const [{ id = '' } = {}] = itemsOf(page);
    const one = await rest.ask(acme, `GET /v1/notifications/${id}`);
    const masked = { receiver: { id: '•••', name: null }, provider: 'webhook/•••' };
    expect([itemsOf(page)[0], one.json]).toMatchObject([masked, masked]);
    const provider = (columns: string) =>
      rest.database.query(`UPDATE notification_provider SET ${columns} WHERE name = 'webhook/hidden'`);
    await provider(`disabled_at = now(), disabled_reason = 'It answered 503.'`);
    const held = await rest.ask(acme, `GET /v1/notifications/${id}`);
    expect(held.json['standing']).toMatch(/^Waiting: the provider webhook\/••• is disabled since/);
    const cancelled = await rest.ask(acme, `POST /v1/notifications/${id}/cancellation`, reason, { 'if-match': '"1"' });
    expect(cancelled).toMatchObject({ status: 200, json: masked });
    expect(`${page.body}${one.body}${held.body}${cancelled.body}`).not.toMatch(/hidden/i);
    expect(itemsOf(await rest.ask(acme, 'GET /v1/notifications?receiver=hidden'))).toEqual([]);
    expect(itemsOf(await rest.ask('viewer', 'GET /v1/notifications?receiver=hidden'))).toHaveLength(1);
  });

  it('show no address of a receiver, whatever the reason, and the audit says so', async () => {
    await rest.put('hidden-mail', { name: 'Hidden desk', email: 'hidden@example.com' });
    const event = anAcceptance({ to: { receiver: 'hidden-mail' } });
    const request = aRequest({ partner: 'acme' });
    await rest.raise(event, request);
    const acme = await giveKey(rest.database, { role: 'support', partners: ['acme'] });
    const all = itemsOf(await rest.ask(acme, 'GET /v1/notifications?limit=200'));
    const [told = '', asked = ''] = [event, request].map(
      ({ id }) => all.find(({ eventId }) => eventId === id)?.id ?? '',
    );
    const unmasked = await rest.ask(acme, `POST /v1/notifications/${told}/unmasking`, reason);
    expect(unmasked).toMatchObject({ status: 200, json: { address: '•••', data: event.data } });
    expect(unmasked.body).not.toMatch(/hidden/i);
    const named = await rest.ask(acme, `POST /v1/notifications/${asked}/unmasking`, reason);
    expect(named.json['address']).toBe('kim.doe@example.com');
    expect((await rest.audited('notification.unmask')).map(({ detail }) => detail)).toEqual([
      { kind: 'order-accepted', shown: ['data'] },
      { kind: 'message', shown: ['address', 'data'] },
    ]);
    expect((await rest.ask('support', `POST /v1/notifications/${told}/unmasking`, reason)).json['address']).toBe(
      'hidden@example.com',
    );
  });

  it('say of no receiver who it is where they cannot be sent anew', async () => {
    await rest.put('hidden-two', { phone: '+4915112345678' });
    const event = anAcceptance({ to: { receiver: 'hidden-two', channel: 'sms' } });
    await rest.raise(event);
    const acme = await giveKey(rest.database, { role: 'support', partners: ['acme'] });
    const [{ id = '' } = {}] = itemsOf(await rest.ask(acme, `GET /v1/notifications?order=${event.orderNumber}`));
    const resend = (who: typeof acme | 'support') =>
      rest.ask(who, `POST /v1/notifications/${id}/resend`, reason, { 'if-match': '"1"' });
    const set = (sql: string) => rest.database.query(sql);
    await set(`UPDATE notification SET state = 'failed' WHERE id = '${id}'`);
    await set(`UPDATE notification_receiver SET phone = NULL, email = 'two@example.com' WHERE id = 'hidden-two'`);
    const unreachable = await resend(acme);
    await set(`DELETE FROM notification_receiver WHERE id = 'hidden-two'`);
    const unknown = await resend(acme);
    expect([unreachable, unknown].map(errorOf)).toEqual([
      [409, 'receiver-unreachable'],
      [404, 'receiver-unknown'],
    ]);
    expect(`${unreachable.body}${unknown.body}`).not.toMatch(/hidden/);
    expect((await resend('support')).json['detail']).toContain('hidden-two');
  });
});
