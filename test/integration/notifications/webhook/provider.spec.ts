import { WebhookReceiver } from '../../../support/webhook-receiver';
import { notificationsOfKind } from '../../../support/receivers';
import { letterTo, WebhookWorld } from './webhook-world';

let world: WebhookWorld;
let receiver: WebhookReceiver;
beforeAll(async () => {
  world = await WebhookWorld.open();
  receiver = await WebhookReceiver.start();
});
beforeEach(async () => {
  receiver.answer = (response) => response.writeHead(204).end();
  await world.write('DELETE FROM notification');
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});

let receivers = 0;
const registered = async (kinds: string[] = [], url = receiver.url) => {
  const id = `shop-${++receivers}`;
  const secret = await world.register(id, url, kinds);
  return { id, secret };
};
const send = (id: string | null, body?: string) =>
  world.provider().send(letterTo(id, body), AbortSignal.timeout(30_000));
const answer = (status: number) => (receiver.answer = (response) => response.writeHead(status).end());
const noticesOf = async (id: string) =>
  (await notificationsOfKind(world.database, 'webhook-disabled'))
    .filter(({ eventId }) => eventId.startsWith(`webhook-disabled/${id}/`))
    .map(({ receiver: to, channel, data }) => ({ to, channel, data }));

describe('a webhook', () => {
  it('is posted as it is, signed, under the id of its notification', async () => {
    const { id, secret } = await registered([], `${receiver.url}/hooks?tenant=7`);
    const body = '{"type":"parley.order-accepted","data":{"note":"Grüße 🌍"}}';
    const letter = letterTo(id, body);
    const sent = await world.provider().send(letter, AbortSignal.timeout(30_000));
    expect(sent).toEqual({ kind: 'accepted', detail: 'It answered 204.' });
    const { path, headers, body: received } = receiver.received.at(-1) ?? {};
    expect({ path, received }).toEqual({ path: '/hooks?tenant=7', received: body });
    expect(headers).toMatchObject({ 'webhook-id': letter.id, 'content-type': 'application/json' });
    expect(receiver.verifies(secret)).toBe(true);
    expect(Math.abs(Date.now() / 1000 - Number(headers?.['webhook-timestamp']))).toBeLessThan(30);
  });

  it('goes to the URL that its receiver has now', async () => {
    const { id } = await registered([], 'http://127.0.0.1:1/old');
    await world.write('UPDATE notification_receiver SET webhook_url = :url WHERE id = :id', {
      id,
      url: `${receiver.url}/new`,
    });
    expect(await send(id)).toMatchObject({ kind: 'accepted' });
    expect(receiver.received.at(-1)?.path).toBe('/new');
  });

  it('is refused for good where its receiver has none any more, or is no more', async () => {
    const { id } = await registered();
    await world.write('UPDATE notification_receiver SET webhook_url = NULL WHERE id = :id', { id });
    for (const to of [id, 'nobody', null])
      expect(await send(to)).toMatchObject({ kind: 'refused', code: 'webhook-absent' });
  });

  it('goes nowhere once its network is not allowed any more', async () => {
    const { id } = await registered();
    const before = receiver.connections;
    world.config.webhookAllowedNetworks = [];
    expect(await send(id)).toMatchObject({ kind: 'later', fault: true, code: 'webhook-forbidden' });
    world.config.webhookAllowedNetworks = ['127.0.0.1'];
    expect(receiver.connections).toBe(before);
  });

  it('goes nowhere by a URL that no rule lets in, however that was stored', async () => {
    const before = receiver.connections;
    for (const url of [receiver.url.replace('//', '//user:secret@'), `${receiver.url}/#part`, 'nonsense']) {
      const { id } = await registered([], url);
      const sent = await send(id);
      expect(sent).toMatchObject({ kind: 'later', fault: true, code: 'webhook-forbidden' });
      expect(JSON.stringify(sent)).not.toContain('secret@');
    }
    expect(receiver.connections).toBe(before);
  });

  it('waits, in no doubt, while the database does not tell where to', async () => {
    const { id } = await registered();
    const closed = await WebhookWorld.open();
    await closed.close();
    expect(await closed.provider().send(letterTo(id), AbortSignal.timeout(30_000))).toMatchObject({
      ...{ kind: 'later', fault: false, ours: true, code: 'webhook-not-read' },
    });
  });

  it.each([
    ['its own time', 8000],
    ['the lease', 60_000],
  ])('whose answer never comes is in doubt when %s is over', async (_, ownMs) => {
    const { id } = await registered();
    const [lease, asked] = [new AbortController(), Promise.withResolvers<void>()];
    receiver.answer = () => asked.resolve();
    const sent = world.provider(ownMs).send(letterTo(id), lease.signal);
    await asked.promise;
    if (ownMs > 8000) lease.abort();
    expect(await sent).toMatchObject({ kind: 'unknown', code: 'webhook-silent' });
  });
});

describe('a webhook that answers 410', () => {
  it('is disabled at once, with a notice to its receiver and to whoever subscribed, each once', async () => {
    const watcher = await registered(['webhook-disabled']);
    const { id } = await registered(['webhook-disabled']);
    answer(410);
    expect(await send(id)).toMatchObject({ kind: 'later', fault: true, code: 'webhook-gone' });
    const { disabledAt, disabledReason } = await world.row(id);
    expect(disabledAt).toBeInstanceOf(Date);
    expect(disabledReason).toBe('It answered 410: nothing more is wanted there.');
    const at = disabledAt?.toISOString();
    const data = { receiver: { id, name: `Receiver ${id}` }, at, since: at, reason: disabledReason, count: 0 };
    const notices = await noticesOf(id);
    expect(notices).toHaveLength(2);
    for (const to of [watcher.id, id]) expect(notices).toContainEqual({ to, channel: 'email', data });
    // Another attempt that was under way finds it disabled.
    await send(id);
    expect(await noticesOf(id)).toHaveLength(2);
    expect((await world.row(id)).disabledAt).toEqual(disabledAt);
    expect((await world.row(watcher.id)).disabledAt).toBeNull();
  });

  it('is told of also where its receiver subscribed to nothing, and where it has no e-mail to nobody', async () => {
    const [told, mute] = [await registered(), await registered()];
    await world.write('DELETE FROM notification_subscription');
    await world.write('UPDATE notification_receiver SET email = NULL WHERE id = :id', mute);
    answer(410);
    for (const { id } of [told, mute]) {
      await send(id);
      expect((await world.row(id)).disabledAt).not.toBeNull();
    }
    expect(await noticesOf(told.id)).toMatchObject([{ to: told.id, channel: 'email' }]);
    expect(await noticesOf(mute.id)).toEqual([]);
  });

  it('is not disabled where its receiver gave another URL meanwhile', async () => {
    const { id } = await registered();
    const [gate, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const change = world.database.transaction(async (tx) => {
      await tx.query(`UPDATE notification_receiver SET webhook_url = 'https://new.example/' WHERE id = $1`, [id]);
      changed.resolve();
      await gate.promise;
    });
    await changed.promise;
    answer(410);
    // It reads the old URL, asks there, and waits for the change when it is to be disabled.
    const sent = send(id);
    await world.somebodyWaits();
    gate.resolve();
    await change;
    expect(await sent).toMatchObject({ code: 'webhook-gone' });
    expect((await world.row(id)).disabledAt).toBeNull();
    expect(await noticesOf(id)).toEqual([]);
  });
});

describe('a webhook that keeps failing', () => {
  it('is disabled with the failure that comes after its days, not before and not without one', async () => {
    const { id } = await registered();
    answer(500);
    await world.failed(id, 40, 119);
    await send(id);
    expect((await world.row(id)).disabledAt).toBeNull();
    await world.failed(id, 40, 121);
    answer(204);
    await send(id);
    expect((await world.row(id)).disabledAt).toBeNull();
    answer(500);
    await send(id);
    expect(await world.row(id)).toMatchObject({
      disabledAt: expect.any(Date) as Date,
      disabledReason: 'It answered 500.',
    });
    expect(await noticesOf(id)).toHaveLength(1);
  });

  it('is not disabled for one bad hour and another one days later', async () => {
    const { id } = await registered();
    answer(500);
    await world.failed(id, 4, 500);
    await send(id);
    expect((await world.row(id)).disabledAt).toBeNull();
  });

  it.each([
    ['answers nothing', () => (receiver.answer = (response) => response.destroy()), 'webhook-broke'],
    ['redirects', () => answer(302), 'webhook-redirects'],
  ])('is disabled as well when it %s', async (_, fail, code) => {
    const { id } = await registered();
    fail();
    await world.failed(id, 40, 121);
    expect(await send(id)).toMatchObject({ code });
    expect((await world.row(id)).disabledAt).not.toBeNull();
  });

  it('says how many wait for it, which go on waiting', async () => {
    const { id } = await registered();
    await world.write(
      `INSERT INTO notification (id, event_id, kind, channel, provider, receiver, address, data, happened_at, created_at, next_attempt_at, expires_at)
       SELECT gen_random_uuid(), 'e/' || n, 'order-shipped', 'webhook', :provider, :id, 'x', '{}', now(), now(), now(), now() + interval '1 day'
       FROM generate_series(1, 3) n`,
      { id, provider: `webhook/${id}` },
    );
    answer(410);
    await send(id);
    expect(await noticesOf(id)).toMatchObject([{ data: { count: 3 } }]);
    const waiting = await world.database.query(
      `SELECT 1 FROM notification WHERE provider = :provider AND state = 'pending'`,
      { provider: `webhook/${id}` },
    );
    expect(waiting).toHaveLength(3);
  });

  it('is enabled by staff, its breaker closed', async () => {
    const { id } = await registered();
    await world.failed(id, 40, 121);
    answer(410);
    await send(id);
    const enable = () => world.database.transaction((tx) => world.disabling.enable(tx, id));
    expect(await enable()).toBe(true);
    const clean = { disabledAt: null, disabledReason: null, failures: 0, failingSince: null, openUntil: null };
    expect(await world.row(id)).toEqual(clean);
    expect(await enable()).toBe(false);
  });
});
