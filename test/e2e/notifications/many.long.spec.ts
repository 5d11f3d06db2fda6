import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { brokenPromises, ledgerOf, tableOf } from './ledger';
import type { NotifierProcess } from './notifier-process';
import { CrashWorld, LEASE_MS } from './world';

/** The same seed makes the same choices; when they meet what the processes do is chance. */
const SEED = Number(process.env['CRASH_SEED'] ?? randomInt(2 ** 31));
/** 250 of each of eight: three policies by SMS and by e-mail, two by webhooks. */
const EACH = 250;

let world: CrashWorld;

beforeAll(async () => {
  console.info(`CRASH_SEED=${SEED}`);
  world = await CrashWorld.open(await freshDatabase());
  // Calls that take a while are cut in the middle.
  world.hold = () => delay(random(0, 40));
});
afterAll(() => world?.close());

let state = SEED;
/** mulberry32 */
function random(from: number, to: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let bits = Math.imul(state ^ (state >>> 15), 1 | state);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return from + Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * (to - from));
}

/** Few at once, and not fast: there is something to be in the middle of for as long as the test kills. */
const SLOWLY = {
  NOTIFICATION_CONCURRENCY: '4',
  SMS_PER_SECOND: '60',
  EMAIL_PER_SECOND: '60',
  WEBHOOK_PER_SECOND: '20',
};

/** What was in whose hands when it fell out of them. */
const fallen = { claimed: 0, begun: 0, had: 0 };

async function kill(notifier: NotifierProcess): Promise<void> {
  await notifier.kill();
  const effects = world.effects();
  const left = await world.sql<{ id: string; doubtful: boolean }>(
    `SELECT n.id, doubtful FROM notification n LEFT JOIN notification_attempt a ON a.notification_id = n.id AND a.number = n.attempts
     WHERE n.state = 'sending' AND (NOT doubtful OR a.notifier = $1)`,
    [notifier.name],
  );
  for (const { id, doubtful } of left) fallen[!doubtful ? 'claimed' : effects.has(id) ? 'had' : 'begun']++;
}

it('six notifiers, killed and put to sleep at random, keep what every kind promises', async () => {
  const ids = await world.tell(EACH, ['sms', 'email', 'webhook']);
  expect(ids).toHaveLength(2_000);
  const running: NotifierProcess[] = [];
  // The whole program among them.
  running.push(world.notifier({ ...SLOWLY, LOG_LEVEL: 'info' }, 'main.js'));
  for (let n = 0; n < 5; n++) running.push(world.notifier(SLOWLY));
  await Promise.all(running.map((notifier) => notifier.ready()));
  const asleep: Promise<unknown>[] = [];
  let [kills, sleeps] = [0, 0];
  for (let fault = 0; fault < 18; fault++) {
    await delay(random(50, 500));
    const n = random(0, running.length);
    const victim = running[n] as NotifierProcess;
    if (fault % 3 === 2) {
      // Past its lease.
      const wake = await victim.sleep();
      sleeps++;
      asleep.push(delay(LEASE_MS * 1.5).then(wake));
      continue;
    }
    await kill(victim);
    kills++;
    running[n] = world.notifier(SLOWLY);
  }
  await Promise.all([...asleep, ...running.map((notifier) => notifier.ready())]);
  await world.settled(240_000);
  await Promise.all(running.map((notifier) => notifier.stop()));

  const entries = ledgerOf(await world.told(ids), world.effects(), ({ channel }) => channel);
  console.info(tableOf(`${kills} kills, ${sleeps} sleeps, seed ${SEED}; ${JSON.stringify(fallen)}`, entries));
  expect(entries).toHaveLength(ids.length);
  expect(brokenPromises(entries, ({ channel }) => channel === 'sms')).toEqual([]);
  expect(fallen.had).toBeGreaterThan(0);
  const doubled = entries.filter(({ policy, effects, story }) => policy === 'repeat' && effects > story.length);
  expect(doubled).toEqual([]);
}, 400_000);

it('nobody is left with something in hand', () =>
  eventually(async () => (await world.sql(`SELECT 1 FROM notification WHERE claim IS NOT NULL`)).length === 0));
