import { giveKey } from '../../support/staff';
import { aRequest, anAcceptance, errorOf, itemsOf, type RestApp, type Shown, startRest } from './rest-app';

const reason = { reason: 'the number is theirs: they answered a call' };
const NUMBER = '+4915199999999';

describe('an address that a provider refused for good, over REST', () => {
  let rest: RestApp;

  beforeAll(async () => {
    rest = await startRest();
    await rest.put('ops-desk', { name: 'Operations', email: 'ops@example.com' });
  });
  afterAll(() => rest.close());
  beforeEach(() => rest.database.query('DELETE FROM notification_bad_address'));

  const marks = () => rest.database.query('SELECT channel, address FROM notification_bad_address');
  const mark = (channel: string, address: string) =>
    rest.database.query(
      `INSERT INTO notification_bad_address VALUES (:channel, :address, 'sms-refused', 'It is no number.', now())`,
      { channel, address },
    );
  /** One that failed, as a notifier leaves it where the address is marked. */
  async function failed(event: ReturnType<typeof aRequest>): Promise<Shown> {
    await rest.raise(event);
    await rest.database.query(
      `UPDATE notification SET state = 'failed', settled_at = '2026-02-03T12:00:00Z', code = 'bad-address', detail = 'Refused for good.'
       WHERE event_id = :id`,
      { id: event.id },
    );
    const items = itemsOf(await rest.ask('viewer', 'GET /v1/notifications?limit=200'));
    return items.find(({ eventId }) => eventId === event.id) as Shown;
  }
  const aCode = (partner?: string) =>
    aRequest({
      ...{ kind: 'confirmation-code', data: { code: '493817' }, to: { channel: 'sms', address: NUMBER } },
      ...(partner !== undefined && { partner }),
    });
  const show = (id: string) => rest.ask('viewer', `GET /v1/notifications/${id}`);
  const unmark = (id: string, body: unknown = reason, who: Parameters<RestApp['ask']>[0] = 'support') =>
    rest.ask(who, `POST /v1/notifications/${id}/unmarking`, body);

  it('is tried again when staff say so by a notification to it, also one that carries a secret, and the audit keeps it', async () => {
    const { id } = await failed(aCode());
    await mark('sms', NUMBER);
    await mark('email', NUMBER);
    const version = (await show(id)).headers['etag'] as string;
    expect(
      errorOf(await rest.ask('support', `POST /v1/notifications/${id}/resend`, reason, { 'if-match': version })),
    ).toEqual([409, 'notification-secret']);
    expect((await unmark(id, reason, 'viewer')).status).toBe(403);
    expect(errorOf(await unmark(id, {}))).toEqual([400, 'request-invalid']);
    expect(await marks()).toHaveLength(2);
    const unmarked = await unmark(id);
    expect(unmarked).toMatchObject({ status: 200, headers: { etag: version }, json: { id, state: 'failed', may: [] } });
    expect(unmarked.body).not.toContain(NUMBER);
    expect(await marks()).toEqual([{ channel: 'email', address: NUMBER }]);
    expect(await rest.audited('notification.unmark')).toEqual([
      {
        ...{ caller: rest.keys.support.id, object: `notification/${id}`, partner: null, reason: reason.reason },
        detail: { kind: 'confirmation-code', channel: 'sms', state: 'failed' },
      },
    ]);
    const again = await unmark(id);
    expect([errorOf(again), again.json['detail']]).toEqual([
      [409, 'notification-state'],
      'Its address is not marked, so there is nothing to unmark. Have the system that asked for it make a new one.',
    ]);
  });

  it('is told in words, with the way out of it', async () => {
    const code = await failed(aCode());
    await mark('sms', NUMBER);
    expect((await show(code.id)).json).toMatchObject({
      standing:
        'Failed at 2026-02-03T12:00:00.000Z. Refused for good. Its address is marked: once staff unmark it, it is tried again.',
      may: ['unmark'],
    });
    const told = await failed(anAcceptance({ to: { receiver: 'ops-desk', channel: 'email' } }));
    expect((await show(told.id)).json).toMatchObject({
      standing: 'Failed at 2026-02-03T12:00:00.000Z. Refused for good.',
      may: ['resend'],
    });
    await mark('email', 'ops@example.com');
    expect((await show(told.id)).json).toMatchObject({
      standing:
        'Failed at 2026-02-03T12:00:00.000Z. Refused for good. Its address is marked: once staff unmark it or send this anew, it is tried again.',
      may: ['resend', 'unmark'],
    });
  });

  it('stays marked for who may not see the notification', async () => {
    const { id } = await failed(aCode('acme'));
    await mark('sms', NUMBER);
    const umbra = await giveKey(rest.database, { role: 'support', partners: ['umbra'] });
    const acme = await giveKey(rest.database, { role: 'support', partners: ['acme'] });
    expect(errorOf(await unmark(id, reason, umbra))).toEqual([404, 'notification-unknown']);
    expect(errorOf(await unmark('nonsense', reason, acme))).toEqual([404, 'notification-unknown']);
    expect(await marks()).toHaveLength(1);
    expect((await unmark(id, reason, acme)).status).toBe(200);
    expect(await marks()).toEqual([]);
  });
});
