import { NotificationFigures } from '../../../src/notifications/sending/figures';
import { Metrics } from '../../../src/health';
import { quiet, SendingWorld } from './sending-world';

let world: SendingWorld;
beforeAll(async () => (world = await SendingWorld.open()));
afterAll(() => world.close());

it('shows what waits, what a person decides and which taps are shut, by channel and without a name', async () => {
  const metrics = new Metrics();
  const figures = new NotificationFigures(world.database, quiet, metrics);
  await world.put(3, { provider: 'webhook/kates-shop', address: 'https://kate.example/hook' });
  await world.put(2, { dueInMs: 3_600_000 });
  await world.database.query(
    `UPDATE notification SET created_at = now() - interval '90 seconds' WHERE provider = 'webhook/kates-shop'`,
  );
  const [unknown = ''] = await world.put(1, { provider: 'email' });
  await world.database.query(`UPDATE notification SET state = 'unknown' WHERE id = :unknown`, { unknown });
  await world.claims.introduce('webhook/kates-shop', 'webhook');
  await world.claims.introduce('sms', 'sms');
  await world.database.query(
    `UPDATE notification_provider SET last_code = 'fails', open_until = CASE WHEN channel = 'sms' THEN now() + interval '1 minute' END,
       disabled_at = CASE WHEN channel = 'webhook' THEN now() END`,
  );
  expect(figures.trouble).toBeUndefined();
  await figures.read();
  expect(figures.trouble).toBe('no SMS is sent for now, since that fails (fails): see parley notifications providers');
  metrics.notificationObserver.settled('asks', 'sms', 'sent');
  metrics.notificationObserver.lapsed(true, 2);
  const shown = await metrics.registry.metrics();
  for (const line of [
    'parley_notifications_pending{channel="webhook"} 3',
    'parley_notifications_pending{channel="sms"} 2',
    'parley_notifications_pending{channel="email"} 0',
    'parley_notifications_oldest_pending_age_seconds{channel="sms"} 0',
    'parley_notifications_oldest_pending_age_seconds{channel="webhook"} 0',
    'parley_notifications_unknown{channel="email"} 1',
    'parley_notification_breakers_open{channel="sms"} 1',
    'parley_notification_providers_disabled{channel="webhook"} 1',
    'parley_notifications_total{kind="asks",channel="sms",result="sent"} 1',
    'parley_notification_leases_lapsed_total{doubtful="true"} 2',
  ])
    expect(shown).toContain(line);
  expect(shown).not.toContain('kate');
});

it('counts the age from when it was due, and not what waits for quiet hours or for a webhook that is disabled', async () => {
  await world.clear();
  const metrics = new Metrics();
  const figures = new NotificationFigures(world.database, quiet, metrics);
  const ages = async () => {
    await figures.read();
    const shown = await metrics.registry.metrics();
    return Object.fromEntries<number>(
      [...shown.matchAll(/oldest_pending_age_seconds\{channel="(\w+)"\} (\S+)/g)].map(([, channel = '', age]) => [
        channel,
        Math.floor(Number(age) / 3600),
      ]),
    );
  };
  /** All that is there, made so many hours ago. */
  const since = (more: string) =>
    world.database.query(`UPDATE notification SET created_at = now() - interval '9 hours', ${more}`);
  await world.put(1, { provider: 'email' });
  await since(`next_attempt_at = now() - interval '2 hours'`);
  expect(await ages()).toEqual({ email: 2, sms: 0, webhook: 0 });
  await since(`attempts = 1, next_attempt_at = now() + interval '1 hour'`);
  expect(await ages()).toMatchObject({ email: 9 });
  await since(`attempts = 1, code = 'quiet-hours', next_attempt_at = now() + interval '1 hour'`);
  expect(await ages()).toMatchObject({ email: 0 });
  // Begun since then, by a notifier that died.
  await since(`attempts = 2, doubtful = true, next_attempt_at = now() + interval '1 hour'`);
  expect(await ages()).toMatchObject({ email: 9 });
  await since('doubtful = false');
  await world.put(1, { provider: 'webhook/shop' });
  await world.claims.introduce('webhook/shop', 'webhook');
  await since('attempts = 1, code = NULL, next_attempt_at = now()');
  expect(await ages()).toMatchObject({ email: 9, webhook: 9 });
  await world.database.query(`UPDATE notification_provider SET disabled_at = now() WHERE name = 'webhook/shop'`);
  expect(await ages()).toMatchObject({ email: 9, webhook: 0 });
});
