import { notificationRequest, OWN_SYSTEMS, type NotificationRequest } from '../../../src/contracts';
import { KINDS } from '../../../src/notifications/kinds';
import { aRequest, requestRecord } from '../notifications/requests/requests-world';
import { type Answer, addPartner, send } from '../orders/orders-app';
import { ChannelCatalog } from '../../../src/messaging/channels';
import { startTriage, type TriageApp } from './triage-app';

const CODE = '493817';

describe('a dead letter that carries a secret', () => {
  let triage: TriageApp;
  beforeAll(async () => {
    triage = await startTriage();
    await addPartner(triage.database, OWN_SYSTEMS, 'json');
    await triage.app.get(ChannelCatalog).load();
    triage.decide = () => ({
      kind: 'dead',
      code: 'notification-receiver-unknown',
      detail: 'There is no such receiver.',
    });
  });
  afterAll(() => triage.close());

  const ask = (method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> =>
    send({ app: triage.app, key: triage.keys.operator }, method, `/v1/dead-letters${path}`, body);
  const dies = async (id: string, change: Partial<NotificationRequest>) => {
    await triage.deliver(requestRecord(aRequest(id, change)));
    const { items } = (await ask('GET', '')).json as { items: { id: string; key: string }[] };
    return String(items.find(({ key }) => key === id)?.id);
  };

  it('is shown to nobody, whatever the reason, nor its bytes, and no look is booked; all others are', async () => {
    const data = [{ name: 'code', value: CODE }];
    const secret = await dies('login/1', { kind: 'confirmation-code', data });
    const other = await dies('invoice/1', { data: [{ name: 'title', value: CODE }] });
    const body = { reason: 'to sign in as somebody else' };
    for (const path of ['/unmasking', '/value/unmasking']) {
      const refused = await ask('POST', `/${secret}${path}`, body);
      expect([path, refused.status, refused.json['code']]).toEqual([path, 409, 'content-secret']);
      expect((await ask('POST', `/${other}${path}`, body)).body).toContain(CODE);
    }
    const looked = [await ask('GET', `/${secret}`), await ask('GET', `/${secret}/value`)];
    expect(looked.map(({ status }) => status)).toEqual([200, 409]);
    expect(looked.map((answer) => answer.body).join('')).not.toContain(CODE);
    const audited = await triage.database.query<{ object: string }>(
      `SELECT DISTINCT object FROM audit_entry WHERE action = 'dead-letter.unmask'`,
    );
    expect(audited).toEqual([{ object: `dead-letter/${other}` }]);
  });

  it('is one that asks for a kind whose notifications are secret', () => {
    const secret = KINDS.filter((kind) => kind.secret).map(({ name }) => name);
    expect(notificationRequest.secretWhen).toEqual({ member: 'kind', values: secret });
  });
});
