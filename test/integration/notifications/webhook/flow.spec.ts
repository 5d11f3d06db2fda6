import { systemClock } from '../../../../src/platform/clock';
import { createLogger } from '../../../../src/platform/telemetry';
import { Notifications } from '../../../../src/notifications';
import { createNotifier } from '../../../../src/notifications/sending/create-notifier';
import { testConfig } from '../../../support/config';
import { eventually } from '../../../support/eventually';
import { WebhookReceiver } from '../../../support/webhook-receiver';
import { WebhookWorld } from './webhook-world';

let world: WebhookWorld;
let notifications: Notifications;
let [dead, sound]: WebhookReceiver[] = [];
let notifier: ReturnType<typeof createNotifier>;
const secrets = new Map<string, string>();

beforeAll(async () => {
  world = await WebhookWorld.open();
  [dead, sound] = await Promise.all([WebhookReceiver.start(), WebhookReceiver.start()]);
  notifications = new Notifications(world.database);
  for (const [id, { url }] of Object.entries({ dead, sound }))
    secrets.set(id, await world.register(id, url, ['order-accepted']));
  await world.write(`UPDATE notification_subscription SET channel = 'webhook'`);
  notifier = createNotifier({
    config: testConfig('postgres://parley@127.0.0.1/unused', {
      WEBHOOK_SECRET_KEYS: world.config.webhookSecretKeys,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    }),
    ...{ database: world.database, notifications, clock: systemClock, log: createLogger('silent', 'test') },
    observer: { settled: () => undefined, lapsed: () => undefined },
  });
  notifier.start();
});
afterAll(async () => {
  await notifier.stop();
  await Promise.all([dead?.stop(), sound?.stop(), world.close()]);
});

const accept = (orderNumber: string) =>
  world.database.transaction((tx) => {
    const [at, partner] = [new Date(), { id: 'acme', name: 'Acme' }];
    const data = { orderNumber, partner, at: at.toISOString() };
    const event = { id: `order/${orderNumber}/2`, kind: 'order-accepted', at, partner: 'acme', orderNumber, data };
    return notifications.raise(tx, [event], at);
  });
const stateOf = async (receiver: string, orderNumber: string) => {
  const [row] = await world.database.query<{ state: string }>(
    'SELECT state FROM notification WHERE receiver = :receiver AND order_number = :orderNumber',
    { receiver, orderNumber },
  );
  return row?.state;
};

describe('webhooks', () => {
  it('flow to a sound receiver while a dead one waits, and to that one when staff enable it', async () => {
    if (!dead || !sound) throw new Error('nobody receives');
    dead.answer = (response) => response.writeHead(410).end();
    expect(await accept('PO-1')).toBe(2);
    await eventually(async () => (await stateOf('sound', 'PO-1')) === 'sent');
    expect(sound.verifies(secrets.get('sound') ?? '')).toBe(true);
    expect(JSON.parse(sound.received[0]?.body ?? '')).toMatchObject({ type: 'parley.order-accepted' });
    await eventually(async () => (await world.row('dead')).disabledAt !== null);
    await accept('PO-2');
    await eventually(async () => (await stateOf('sound', 'PO-2')) === 'sent');
    expect(await stateOf('dead', 'PO-2')).toBe('pending');
    expect(dead.received).toHaveLength(1);
    dead.answer = (response) => response.writeHead(204).end();
    await world.database.transaction((tx) => world.disabling.enable(tx, 'dead'));
    await eventually(async () => (await stateOf('dead', 'PO-2')) === 'sent');
    expect(dead.verifies(secrets.get('dead') ?? '')).toBe(true);
  });

  it('tell of an order again when nobody heard whether it came, under the same id', async () => {
    if (!sound) throw new Error('nobody receives');
    const before = sound.received.length;
    sound.answer = (response) => response.destroy();
    await accept('PO-3');
    await eventually(async () => {
      const [row] = await world.database.query<{ doubtful: boolean; state: string }>(
        `SELECT doubtful, state FROM notification WHERE receiver = 'sound' AND order_number = 'PO-3'`,
      );
      return row?.doubtful && row.state === 'pending';
    });
    sound.answer = (response) => response.writeHead(204).end();
    await world.write(
      `UPDATE notification SET next_attempt_at = now() WHERE receiver = 'sound' AND order_number = 'PO-3'`,
    );
    await eventually(async () => (await stateOf('sound', 'PO-3')) === 'sent');
    const ids = sound.received.slice(before).map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });
});
