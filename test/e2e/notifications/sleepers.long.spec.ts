import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../../scripts/servers/index.mjs';
import { freshDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { type Heal, hold } from '../../support/faults';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { startTlsFront, type TlsFront } from '../../support/tls-front';
import { brokenPromises, ledgerOf } from './ledger';
import type { NotifierProcess } from './notifier-process';
import { CrashWorld } from './world';

let folder: string;
let world: CrashWorld;
let front: TlsFront;
let wire: TcpProxy;
let tls: NodeJS.ProcessEnv;

beforeAll(async () => {
  world = await CrashWorld.open(await freshDatabase());
  folder = await mkdtemp(join(tmpdir(), 'parley-sleepers-'));
  const authority = await makeAuthority();
  await writeFile(join(folder, 'ca.pem'), authority.pem);
  front = await startTlsFront(
    { port: Number(new URL(world.providers.sms.url).port) },
    await authority.issue('sms provider'),
  );
  wire = await startTcpProxy({ port: Number(front.address.split(':')[1]) });
  tls = { SMS_URL: `https://localhost:${wire.port}`, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
});

afterAll(async () => {
  await world?.close();
  await Promise.all([wire?.close(), front?.close(), rm(folder, { recursive: true, force: true })]);
});

/** Two that sleep with so much in hand, of each policy by each of the channels. */
const EACH = 8;
const ROOM = {
  NOTIFICATION_CONCURRENCY: '12',
  DATABASE_POOL_SIZE: '26',
  // Time to put them to sleep on a busy machine.
  NOTIFICATION_LEASE_MS: '6000',
  // The database ends a transaction that nobody goes on with after twice that.
  DATABASE_STATEMENT_TIMEOUT_MS: '9000',
};

/** Sends what the sleepers had, wakes them, and sees them end in order. */
async function takenOver(sleepers: NotifierProcess[], wake: Heal[]): Promise<void> {
  // What it begins it brings to its end, also where a busy machine holds a call up for longer than the short lease.
  const other = await world.notifier({ NOTIFICATION_LEASE_MS: '20000' }).ready();
  await world.settled();
  await Promise.all(wake.map((one) => one()));
  await Promise.all([other, ...sleepers].map((notifier) => notifier.stop()));
}

/** Notifiers whose attempts wait to be written, and who are then put to sleep. */
async function asleepBeforeTheirAttempts() {
  const ids = await world.tell(EACH, ['sms', 'email']);
  const free = await hold(world.url, 'LOCK TABLE notification_attempt IN SHARE MODE');
  const sleepers = await Promise.all([world.notifier(ROOM).ready(), world.notifier(ROOM).ready()]);
  await eventually(
    async () => {
      const waiting = await Promise.all(sleepers.map((one) => one.waiting('WITH held')));
      return waiting.reduce((sum, n) => sum + n, 0) === ids.length;
    },
    { what: 'all attempts wait to be written' },
  );
  const wake = await Promise.all(sleepers.map((one) => one.sleep()));
  return { ids, free, sleepers, wake };
}

const entriesOf = async (ids: string[]) => ledgerOf(await world.told(ids), world.effects(), ({ channel }) => channel);

describe('a notifier that sleeps past its lease, and wakes', () => {
  it('before its attempts are written, writes none and sends nothing', async () => {
    const { ids, free, sleepers, wake } = await asleepBeforeTheirAttempts();
    await eventually(
      async () => (await world.sql('SELECT 1 FROM notification WHERE lease_until > clock_timestamp()')).length === 0,
      { what: 'all leases are over' },
    );
    await free();
    await takenOver(sleepers, wake);
    for (const entry of await entriesOf(ids))
      expect(entry).toMatchObject({ effects: 1, state: 'sent', story: ['send accepted'] });
  });

  it('when its attempts are written and not committed, loses them with its session, and sends nothing', async () => {
    const { ids, free, sleepers, wake } = await asleepBeforeTheirAttempts();
    await free();
    await takenOver(sleepers, wake);
    for (const entry of await entriesOf(ids))
      expect(entry).toMatchObject({ effects: 1, state: 'sent', story: ['send accepted'] });
  });

  it('while it connects, sends nothing over the connection that is there when it wakes', async () => {
    const ids = await world.tell(EACH, ['sms']);
    wire.pause();
    const before = wire.accepted;
    const sleepers = await Promise.all([
      world.notifier({ ...tls, ...ROOM }).ready(),
      world.notifier({ ...tls, ...ROOM }).ready(),
    ]);
    await eventually(() => wire.accepted - before >= ids.length / 2, { what: 'they connect' });
    const wake = await Promise.all(sleepers.map((one) => one.sleep()));
    // Their TLS goes on as soon as they do.
    wire.resume();
    await takenOver(sleepers, wake);
    const entries = await entriesOf(ids);
    expect(brokenPromises(entries, () => true)).toEqual([]);
    for (const { effects } of entries) expect(effects).toBeLessThan(2);
    // What was not begun yet when they were put to sleep was sent at once by the other.
    expect(entries.filter(({ story }) => story[0] === 'send later').length).toBeGreaterThan(EACH / 2);
  });
});
