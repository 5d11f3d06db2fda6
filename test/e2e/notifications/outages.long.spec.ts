import { setTimeout as delay } from 'node:timers/promises';
import { migrateDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { kill, ownPostgres, ownWire, refuse } from '../../support/faults';
import { brokenPromises, ledgerOf, tableOf } from './ledger';
import { CrashWorld } from './world';

let server: Awaited<ReturnType<typeof ownPostgres>>;
const worlds: CrashWorld[] = [];

beforeAll(async () => {
  // What a crash of it may forget is the point.
  server = await ownPostgres({ durable: true });
});
afterEach(() => Promise.all(worlds.splice(0).map((world) => world.close())));

async function open(database: string): Promise<CrashWorld> {
  await server.createDatabase(database);
  await migrateDatabase(server.url(database));
  const world = await CrashWorld.open(server.url(database));
  worlds.push(world);
  return world;
}

it('a database that crashes while notifiers send costs no promise and no notifier', async () => {
  const world = await open('crashing');
  world.hold = () => delay(Math.random() * 30);
  const ids = await world.tell(60, ['sms', 'email', 'webhook']);
  const slowly = {
    NOTIFICATION_CONCURRENCY: '4',
    SMS_PER_SECOND: '25',
    EMAIL_PER_SECOND: '25',
    WEBHOOK_PER_SECOND: '10',
  };
  const notifiers = await Promise.all([world.notifier(slowly).ready(), world.notifier(slowly).ready()]);
  for (let crash = 0; crash < 3; crash++) {
    const before = world.effects().size;
    await eventually(() => world.effects().size > before + 20, { timeout: 60_000, what: 'notifications go out' });
    const back = await kill(server);
    await delay(Math.random() * 1_000);
    await back();
  }
  await world.settled(120_000);
  for (const { name, alive, end, output } of notifiers)
    if (!alive) throw new Error(`${name} ended with ${end}: ${output.slice(-2_000)}`);
  await Promise.all(notifiers.map((notifier) => notifier.stop()));
  const entries = ledgerOf(await world.told(ids), world.effects(), ({ channel }) => channel);
  console.info(tableOf('The database crashed three times', entries));
  expect(entries).toHaveLength(ids.length);
  expect(brokenPromises(entries, ({ channel }) => channel === 'sms')).toEqual([]);
}, 300_000);

it('a provider that is away is left alone until it is back; then everybody is told once, and the others were not held up', async () => {
  const world = await open('away');
  const wire = await ownWire({ port: world.providers.mail.port });
  const back = refuse(wire);
  const mails = await world.tell(20, ['email']);
  // On a busy machine a call may take longer than the short lease of these tests: that would leave others in doubt, which is not what is looked at.
  const env = { SMTP_PORT: String(wire.port), NOTIFICATION_LEASE_MS: '60000' };
  const notifiers = await Promise.all([world.notifier(env).ready(), world.notifier(env).ready()]);
  const breaker = async () => {
    const [row] = await world.sql<{ open: boolean; failures: number }>(
      `SELECT open_until IS NOT NULL AS open, failures FROM notification_provider WHERE name = 'email'`,
    );
    return row;
  };
  await eventually(async () => (await breaker())?.open, { what: 'the breaker opens' });
  const others = await world.tell(20, ['sms', 'webhook']);
  const states = async (ids: string[]) => [...new Set((await world.told(ids)).map(({ state }) => state))];
  await eventually(async () => (await states(others)).join() === 'sent', {
    timeout: 90_000,
    what: 'the others are told',
  });
  expect((await breaker())?.open).toBe(true);
  expect(world.providers.mail.mails).toEqual([]);
  // Five faults, those that were under way when it opened, and a trial or two.
  expect(wire.accepted).toBeLessThan(mails.length);

  await back();
  // What was tried has its own pause, up to half a minute.
  await world.sql(`UPDATE notification SET next_attempt_at = now() WHERE state = 'pending'`);
  await world.settled(90_000);
  expect(await breaker()).toEqual({ open: false, failures: 0 });
  await Promise.all(notifiers.map((notifier) => notifier.stop()));
  const effects = world.effects();
  expect([...mails, ...others].map((id) => effects.get(id))).toEqual(Array(mails.length + others.length).fill(1));
  expect(await states([...mails, ...others])).toEqual(['sent']);
}, 300_000);
