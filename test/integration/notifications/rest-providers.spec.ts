import { giveKey } from '../../support/staff';
import { aRequest, anAcceptance, errorOf, type RestApp, startRest } from './rest-app';

const PATH = '/v1/notification-providers';
type Provider = Record<string, unknown> & { name: string };

describe('providers over REST', () => {
  let rest: RestApp;

  beforeAll(async () => {
    rest = await startRest();
    await rest.put('warehouse', { webhookUrl: 'https://127.0.0.1:8443/hooks', email: 'w@example.com' });
    await rest.put('office', { webhookUrl: 'https://127.0.0.1:8443/office' });
    const to = { receiver: 'warehouse', channel: 'webhook' } as const;
    await rest.raise(anAcceptance({ to }), anAcceptance({ to, partner: 'umbra' }), aRequest(), aRequest());
  });
  afterAll(() => rest.close());

  const list = async (query = '') => (await rest.ask('viewer', `GET ${PATH}${query}`)).json['items'] as Provider[];
  const find = async (name: string) => (await list()).find((one) => one.name === name) as Provider;
  const write = (name: string, columns: string) =>
    rest.database.query(`UPDATE notification_provider SET ${columns} WHERE name = :name`, { name });
  const retry = (name: string, body: unknown = {}, who: 'operator' | 'support' = 'operator') =>
    rest.ask(who, `POST ${PATH}/${encodeURIComponent(name)}/retry`, body);

  it('are listed by name with what waits for them, also those that nothing was ever sent through', async () => {
    const all = await list();
    expect(all.map(({ name, channel, receiver, waiting }) => [name, channel, receiver, waiting])).toEqual([
      ['email', 'email', null, 2],
      ['sms', 'sms', null, 0],
      ['webhook/office', 'webhook', 'office', 0],
      ['webhook/warehouse', 'webhook', 'warehouse', 2],
    ]);
    expect(all[0]).toEqual({
      ...{ name: 'email', channel: 'email', receiver: null, configured: true, standing: 'Sends.', perSecond: 10 },
      ...{ failures: 0, failingSince: null, openUntil: null, disabledAt: null, disabledReason: null },
      ...{ lastSuccessAt: null, lastCode: null, lastDetail: null, waiting: 2, unknown: 0 },
      oldestWaitingAt: expect.stringMatching(/^20/) as string,
    });
    const first = await rest.ask('viewer', `GET ${PATH}?limit=2`);
    const [, next] = /^<(.+)>; rel="next"$/.exec(String(first.headers['link'])) ?? [];
    const second = (await rest.ask('viewer', `GET ${next}`)).json['items'] as Provider[];
    expect(second.map(({ name }) => name)).toEqual(['webhook/office', 'webhook/warehouse']);
    expect(errorOf(await rest.ask('viewer', `GET ${PATH}?cursor=x`))).toEqual([400, 'cursor-invalid']);
  });

  it('say in words why nothing goes through them', async () => {
    await write(
      'email',
      `failures = 6, failing_since = '2026-02-03T12:01:00Z', open_until = '2126-02-03T12:03:00Z', last_code = 'smtp-auth'`,
    );
    expect(await find('email')).toMatchObject({
      standing:
        'The provider email does not serve us since 2026-02-03T12:01:00.000Z (smtp-auth); next try at 2126-02-03T12:03:00.000Z.',
      ...{ failures: 6, openUntil: '2126-02-03T12:03:00.000Z' },
    });
    // Once the time has passed the next one is the trial.
    await write('email', `open_until = '2026-02-03T12:03:00Z'`);
    expect(await find('email')).toMatchObject({
      standing:
        'Is tried with one notification next, though its last 6 attempts failed (smtp-auth); it fails since 2026-02-03T12:01:00.000Z.',
      openUntil: null,
    });
    await write('email', `open_until = NULL, failures = 1`);
    expect((await find('email'))['standing']).toBe(
      'Is tried, though its last attempt failed (smtp-auth); it fails since 2026-02-03T12:01:00.000Z.',
    );
    // What it failed of last is kept, and is no news.
    await write('email', `failures = 0, failing_since = NULL`);
    expect(await find('email')).toMatchObject({ standing: 'Sends.', lastCode: 'smtp-auth' });
    await write('webhook/warehouse', `disabled_at = '2026-02-03T12:01:00Z', disabled_reason = 'It answered 503.'`);
    expect((await find('webhook/warehouse'))['standing']).toBe(
      'The provider webhook/warehouse is disabled since 2026-02-03T12:01:00.000Z (It answered 503) until somebody enables it.',
    );
  });

  it('are tried at once on request: one notification as a trial, and none that is in doubt', async () => {
    await write('email', `failures = 6, open_until = now() + interval '1 h'`);
    await rest.database.query(
      `UPDATE notification SET attempts = 1, next_attempt_at = now() + interval '1 h', doubtful = (id = (SELECT min(id::text)::uuid FROM notification WHERE provider = 'email'))
       WHERE provider = 'email'`,
    );
    expect((await retry('email', {}, 'support')).status).toBe(403);
    const answer = await retry('email', { reason: 'the password is mended' });
    expect(answer).toMatchObject({ status: 200, json: { name: 'email', openUntil: null, failures: 6 } });
    const [row] = await rest.database.query<{ trial: boolean }>(
      `SELECT open_until <= now() AS trial FROM notification_provider WHERE name = 'email'`,
    );
    // Still set: claims let one alone through, whose outcome closes the breaker or opens it for longer.
    expect(row).toEqual({ trial: true });
    const due = await rest.database.query(
      `SELECT doubtful, next_attempt_at <= now() AS due FROM notification WHERE provider = 'email' ORDER BY doubtful`,
    );
    expect(due).toEqual([
      { doubtful: false, due: true },
      { doubtful: true, due: false },
    ]);
    expect(await rest.audited('notification-provider.retry')).toEqual([
      {
        ...{ caller: rest.keys.operator.id, object: 'notification-provider/email', partner: null },
        reason: 'the password is mended',
        detail: { openUntil: expect.any(String) as string, failures: 6, lastCode: 'smtp-auth' },
      },
    ]);
  });

  it('are not tried while they are disabled, and not where there is none', async () => {
    await write('webhook/warehouse', `disabled_at = now(), disabled_reason = 'It answered 503.'`);
    const refused = await retry('webhook/warehouse');
    expect(errorOf(refused)).toEqual([409, 'notification-provider-disabled']);
    expect(refused.json['detail']).toContain('/v1/notification-receivers/warehouse/webhook-enabling');
    for (const name of ['webhook/nobody', 'fax', 'a%00b', "x' OR true"])
      expect([name, ...errorOf(await retry(name))]).toEqual([name, 404, 'notification-provider-unknown']);
  });

  it('count and name to who is confined to some partners only what concerns these', async () => {
    const confined = await giveKey(rest.database, { partners: ['acme'] });
    const seen = (await rest.ask(confined, `GET ${PATH}`)).json['items'] as Provider[];
    expect(seen.map(({ name, waiting }) => [name, waiting])).toEqual([
      ['email', 0],
      ['sms', 0],
    ]);
    const operator = await giveKey(rest.database, { role: 'operator', partners: ['acme'] });
    await write('email', `failures = 6, open_until = now() + interval '1 h'`);
    const refused = await Promise.all(
      ['email', 'sms', 'webhook%2Foffice'].map((name) => rest.ask(operator, `POST ${PATH}/${name}/retry`, {})),
    );
    expect(refused.map(errorOf)).toEqual([
      [403, 'notification-provider-shared'],
      [403, 'notification-provider-shared'],
      [404, 'notification-provider-unknown'],
    ]);
    expect(await find('email')).toMatchObject({ openUntil: expect.stringMatching(/^20/) as string });
  });
});
