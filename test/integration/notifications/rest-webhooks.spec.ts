import { Webhook } from 'standardwebhooks';
import { WebhookSecrets } from '../../../src/notifications/channels/webhook/webhook-secrets';
import { CONFIG, type Config } from '../../../src/platform/config';
import { errorOf, EVERYTHING, itemsOf, RECEIVERS, receiversOf, type RestApp, startRest } from './rest-app';

const { webhookUrl } = EVERYTHING;

describe('what is sent to a receiver over REST', () => {
  let rest: RestApp;

  beforeAll(async () => {
    rest = await startRest();
  });
  afterAll(() => rest.close());

  const { put, show, match, entries } = receiversOf(() => rest);

  it('is signed with another secret for its webhook after a rotation, which alone tells it, and the one before signs beside it for a while', async () => {
    const first = (await put('signed', { webhookUrl })).json['webhookSecret'];
    const path = `POST ${RECEIVERS}/signed/webhook-secret` as const;
    expect((await rest.ask('operator', path, {})).status).toBe(403);
    const rotated = await rest.ask('admin', path, { oldValidForHours: 48 });
    expect(rotated).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' }, json: { number: 2 } });
    expect(Date.parse(String(rotated.json['oldValidUntil']))).toBeGreaterThan(Date.now() + 47 * 3_600_000);
    const { secret } = rotated.json as { secret: string };
    expect(new Set([first, secret]).size).toBe(2);
    // What was told is what signs.
    const secrets = new WebhookSecrets(rest.database, rest.app.get<Config>(CONFIG));
    const target = await secrets.target('signed', new Date());
    const signed = new Date('2026-02-03T04:05:06.000Z');
    const signatureOf = (told: unknown) => new Webhook(String(told)).sign('msg', signed, '{}');
    expect((target?.secrets as Buffer[]).map((raw) => signatureOf(`whsec_${raw.toString('base64')}`))).toEqual([
      ...[signatureOf(secret), signatureOf(first)],
    ]);
    const third = await rest.ask('admin', path, {});
    expect(third.status).toBe(200);
    expect(errorOf(await rest.ask('admin', path, {}))).toEqual([409, 'webhook-secrets-full']);
    const now = await rest.ask('admin', path, { oldValidForHours: 0 });
    expect([now.status, now.json['number']]).toEqual([200, 4]);
    expect((await show('signed')).json).toMatchObject({ webhook: { secrets: [{ number: 4, validUntil: null }] } });
    const audited = await entries('rotate-secret', 'signed');
    expect(audited.map(({ detail }) => (detail as { number: number }).number)).toEqual([2, 3, 4]);
    expect(JSON.stringify(audited)).not.toContain('whsec');
    expect(errorOf(await rest.ask('admin', `POST ${RECEIVERS}/nobody/webhook-secret`, {}))).toEqual([
      404,
      'receiver-unknown',
    ]);
    await put('unsigned', {});
    expect(errorOf(await rest.ask('admin', `POST ${RECEIVERS}/unsigned/webhook-secret`, {}))).toEqual([
      409,
      'webhook-absent',
    ]);
  });

  it('is signed with the same secret at another URL, and with a new one when the webhook was taken away between', async () => {
    const first = (await put('moved', { webhookUrl })).json['webhookSecret'];
    const other = await put('moved', { webhookUrl: `${webhookUrl}/other` }, match(1));
    expect(other.json).toMatchObject({ webhookSecret: null, webhook: { secrets: [{ number: 1 }] } });
    expect((await put('moved', {}, match(2))).json['webhook']).toBeNull();
    const again = (await put('moved', { webhookUrl }, match(3))).json;
    expect(again['webhookSecret']).toMatch(/^whsec_/);
    expect(again['webhookSecret']).not.toBe(first);
    const secrets = await rest.database.query(`SELECT number FROM webhook_secret WHERE receiver = 'moved'`);
    expect(secrets).toHaveLength(1);
  });

  it('flows again when its disabled webhook is enabled, for a reason', async () => {
    await put('dead', { webhookUrl });
    const enable = (body: object = { reason: 'it is back' }) =>
      rest.ask('operator', `POST ${RECEIVERS}/dead/webhook-enabling`, body);
    expect(errorOf(await enable())).toEqual([409, 'webhook-not-disabled']);
    await rest.database.query(
      `UPDATE notification_provider SET disabled_at = now(), disabled_reason = 'It answered 503.', failures = 9 WHERE name = 'webhook/dead'`,
    );
    expect((await show('dead')).json['webhook']).toMatchObject({ disabledReason: 'It answered 503.' });
    expect(errorOf(await enable({}))).toEqual([400, 'request-invalid']);
    const enabled = await enable();
    expect([enabled.status, enabled.json['webhook']]).toMatchObject([200, { disabledAt: null, disabledReason: null }]);
    expect(await entries('enable-webhook', 'dead')).toMatchObject([{ reason: 'it is back' }]);
  });

  it('is tried over each of its addresses, once for each key, by notifications like any others', async () => {
    await put('tested', { ...EVERYTHING, quietHours: { from: '00:00', to: '23:59', timeZone: 'UTC' } });
    const test = (key: string | undefined) =>
      rest.ask(
        'operator',
        `POST ${RECEIVERS}/tested/test`,
        undefined,
        key === undefined ? {} : { 'idempotency-key': key },
      );
    expect(errorOf(await test(undefined))).toEqual([400, 'idempotency-key-missing']);
    const [first, again, other] = [await test('a'), await test('a'), await test('b')];
    expect([first?.status, again?.json]).toEqual([202, first?.json]);
    expect(other?.json).not.toEqual(first?.json);
    const made = first?.json['notifications'] as { id: string; channel: string }[];
    expect(made.map(({ channel }) => channel)).toEqual(['email', 'sms', 'webhook']);
    for (const { id, channel } of made) {
      const { json } = await rest.ask('viewer', `GET /v1/notifications/${id}`);
      expect(json).toMatchObject({ kind: 'test', channel, state: 'pending', receiver: { id: 'tested' } });
      expect(json['data']).toEqual({ by: 'operator', at: json['happenedAt'] });
      // Quiet hours or not: who asked waits for it, and tomorrow it is worth nothing.
      expect(json['standing']).toMatch(/^Due: /);
      expect(Date.parse(String(json['expiresAt'])) - Date.parse(String(json['happenedAt']))).toBe(3_600_000);
    }
    expect(itemsOf(await rest.ask('viewer', 'GET /v1/notifications?receiver=tested'))).toHaveLength(6);
    expect(await entries('test', 'tested')).toHaveLength(2);
    const mark = () =>
      rest.database.query(
        `INSERT INTO notification_bad_address VALUES ('email', '${EVERYTHING.email}', 'smtp-unknown-mailbox', 'There is no such mailbox.', now())`,
      );
    const refused = async () => ((await show('tested')).json['badAddresses'] as unknown[]).length;
    // Staff ask: what was refused for good before may be mended. Who only asks the same again has asked before it was refused.
    await mark();
    await test('a');
    expect(await refused()).toBe(1);
    await test('c');
    expect(await refused()).toBe(0);
    await put('silent', {});
    const silent = await rest.ask('operator', `POST ${RECEIVERS}/silent/test`, undefined, { 'idempotency-key': 'a' });
    expect(errorOf(silent)).toEqual([409, 'receiver-unreachable']);
  });
});
