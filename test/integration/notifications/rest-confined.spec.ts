import { giveKey } from '../../support/staff';
import { anAcceptance, itemsOf, type RestApp, startRest } from './rest-app';

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
});
