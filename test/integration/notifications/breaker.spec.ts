import {
  claimOne,
  CountingProvider,
  holdRow,
  httpProvider,
  LEASE,
  lockWaited,
  SendingWorld,
  TEST_KINDS,
  until,
} from './sending-world';

let world: SendingWorld;
let url: string;
const provider = new CountingProvider();

beforeAll(async () => {
  world = await SendingWorld.open();
  url = await provider.listen();
});
afterEach(async () => {
  await world.clear();
  provider.reset();
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

interface Tap {
  failures: number;
  /** ms since 1970, by the database. */
  openUntil: number | null;
  failing: boolean;
  last_code: string | null;
}

const KINDS = TEST_KINDS.map(({ name }) => name);
const claim = (name = 'sms', slots = 8) =>
  world.claims.claim({ provider: name, slots, perSecond: 10_000, ...LEASE, kinds: KINDS });

async function tap(name = 'sms'): Promise<Tap | undefined> {
  const [row] = await world.database.query<Tap>(
    `SELECT failures, extract(epoch FROM open_until)::float8 * 1000 AS "openUntil", failing_since IS NOT NULL AS failing, last_code
     FROM notification_provider WHERE name = :name`,
    { name },
  );
  return row;
}

/** One after the other, all as the server says. */
async function send(count: number, options: Parameters<typeof httpProvider>[1] = {}): Promise<void> {
  await world.put(count, { kind: 'repeats' });
  for (let n = 0; n < count; n++) await world.sender().deal(await claimOne(world, httpProvider(url, options)));
}

const clock = async (): Promise<number> => {
  const [row] = await world.database.query<{ now: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now',
  );
  return row?.now ?? 0;
};

/** That this shuts the tap for so long, counted from some moment of it, however long it takes; then it stays shut for as long as the test likes. */
async function expectToShut(work: () => Promise<unknown>, ms: number): Promise<void> {
  const before = await clock();
  await work();
  const [after, shut] = [await clock(), (await tap())?.openUntil];
  // Stored to the millisecond.
  expect(shut).toBeGreaterThanOrEqual(before + ms - 1);
  expect(shut).toBeLessThanOrEqual(after + ms + 1);
  await world.database.query(`UPDATE notification_provider SET open_until = open_until + interval '1 hour'`);
}

const passOpenTime = () =>
  world.database.query(`UPDATE notification_provider SET open_until = clock_timestamp() - interval '1 millisecond'`);

describe('the breaker of a provider', () => {
  it('opens behind five faults in a row, for twice as long after each failed trial, and closes with a success', async () => {
    provider.behaviour = () => ({ status: 500 });
    await send(4);
    expect(await tap()).toMatchObject({ failures: 4, openUntil: null, failing: true, last_code: 'http-500' });
    await expectToShut(() => send(1), 5_000);
    await world.put(8);
    expect((await claim())?.claimed).toEqual([]);
    expect(await world.claims.due()).toEqual([]);
    await passOpenTime();
    await expectToShut(() => send(1), 10_000);
    await passOpenTime();
    provider.behaviour = () => ({});
    await send(1);
    expect(await tap()).toMatchObject({ failures: 0, openUntil: null, failing: false });
    expect((await claim())?.claimed).toHaveLength(8);
  });

  it('lets one through as a trial, over all processes, and the next one when nobody has heard of it for a lease', async () => {
    provider.behaviour = () => ({ status: 500 });
    await send(5);
    await world.put(8);
    await passOpenTime();
    const row = await holdRow(world, 'sms', 'notification_provider');
    const trying = Promise.all([claim(), claim(), claim(), claim()]);
    await lockWaited(world, 4);
    row.letGo();
    const [tried] = await Promise.all([trying, row.ended]);
    expect(tried.flatMap((one) => one?.claimed ?? [])).toHaveLength(1);
    expect(tried.filter((one) => one?.trial && one.claimed.length > 0)).toHaveLength(1);
    expect((await claim())?.claimed).toEqual([]);
    await passOpenTime();
    expect((await claim())?.claimed).toHaveLength(1);
  });

  it('counts a timeout as a fault, and what is said of one message alone as none', async () => {
    provider.behaviour = () => ({ hang: true });
    await send(2, { timeoutMs: 50 });
    expect(await tap()).toMatchObject({ failures: 2, last_code: 'no-answer' });
    provider.behaviour = () => ({ status: 422 });
    await send(1);
    expect(await tap()).toMatchObject({ failures: 0, openUntil: null });
    provider.behaviour = () => ({ status: 403 });
    await send(6);
    expect(await tap()).toMatchObject({ failures: 0, openUntil: null });
  });

  it('counts faults of sending on when it is asked in between and answers', async () => {
    provider.behaviour = () => ({ status: 500 });
    await send(4);
    const [id = ''] = await world.put(1, { kind: 'asks', dueInMs: -60_000 });
    await world.database.query('UPDATE notification SET doubtful = true WHERE id = :id', { id });
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(provider.lookUps).toEqual([id]);
    expect(await tap()).toMatchObject({ failures: 4, openUntil: null });
    await expectToShut(() => send(1), 5_000);
  });

  it('is not moved by a log that may not be read, and sends on', async () => {
    const ids = await world.put(8, { kind: 'asks', dueInMs: -60_000 });
    await world.database.query('UPDATE notification SET doubtful = true');
    provider.logStatus = 403;
    for (let n = 0; n < 8; n++) await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(provider.lookUps.toSorted()).toEqual(ids.toSorted());
    expect(await tap()).toMatchObject({ failures: 0, openUntil: null, failing: false });
    await world.database.query(`UPDATE notification SET next_attempt_at = now() + interval '1 hour'`);
    await send(1);
    expect(await world.states()).toEqual({ pending: 8, sent: 1 });
  });

  it('knows since when it has failed by faults of the provider alone, not by ours', async () => {
    const ours = { kind: 'later', code: 'key-missing', detail: 'A key is missing.', fault: true, ours: true } as const;
    const keyless = { ...httpProvider(url), send: () => Promise.resolve(ours) };
    await world.put(5, { kind: 'repeats' });
    for (let n = 0; n < 4; n++) await world.sender().deal(await claimOne(world, keyless));
    expect(await tap()).toMatchObject({ failures: 4, openUntil: null, failing: false });
    await expectToShut(async () => world.sender().deal(await claimOne(world, keyless)), 5_000);
    expect(await tap()).toMatchObject({ failing: false, last_code: 'key-missing' });
    await passOpenTime();
    provider.behaviour = () => ({ status: 500 });
    await send(1);
    expect(await tap()).toMatchObject({ failures: 6, failing: true, last_code: 'http-500' });
  });

  it('goes by the trial alone while it is open: what was under way neither closes it nor lengthens it', async () => {
    await world.put(3, { kind: 'repeats' });
    const [good, bad] = [await claimOne(world, httpProvider(url)), await claimOne(world, httpProvider(url))];
    provider.behaviour = () => ({ status: 500 });
    await send(5);
    const before = await tap();
    expect(before).toMatchObject({ failures: 5, openUntil: expect.any(Number) as number });
    await world.sender().deal(bad);
    provider.behaviour = () => ({});
    await world.sender().deal(good);
    const { failures, openUntil } = before ?? {};
    expect(await tap()).toMatchObject({ failures, openUntil });
  });

  it('is closed for as long as Retry-After says, from the first such answer', async () => {
    provider.behaviour = () => ({ status: 429, headers: { 'retry-after': '30' } });
    const before = await clock();
    await expectToShut(() => send(1), 30_000);
    expect((await claim())?.claimed).toEqual([]);
    const [row] = await world.database.query<{ next: Date }>('SELECT next_attempt_at AS next FROM notification');
    expect(row?.next.getTime()).toBeGreaterThanOrEqual(before + 30_000 - 1);
  });

  it('is free for the next trial when one came to nothing before the provider was asked', async () => {
    provider.behaviour = () => ({ status: 500 });
    await send(5);
    await world.database.query('DELETE FROM notification');
    await world.put(1, { address: '+4900' });
    await world.database.query(`INSERT INTO notification_bad_address VALUES ('sms', '+4900', 'gone', 'Gone.', now())`);
    await passOpenTime();
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    await world.put(1);
    expect((await claim())?.claimed).toHaveLength(1);
  });

  it('holds nothing of another provider up', async () => {
    const down = 'http://127.0.0.1:1';
    await world.put(20, { kind: 'repeats' });
    await world.put(20, { provider: 'webhook/fine' });
    await world.put(20, { provider: 'webhook/slow' });
    const slow = new CountingProvider();
    slow.behaviour = () => ({ hang: true });
    const slowUrl = await slow.listen();
    try {
      const urls: Record<string, string> = { sms: down, 'webhook/fine': url, 'webhook/slow': slowUrl };
      world.notifier((name) => httpProvider(urls[name] ?? down));
      await until(async () => {
        const fine = `SELECT 1 FROM notification WHERE provider = 'webhook/fine' AND state = 'sent'`;
        expect(await world.database.query(fine)).toHaveLength(20);
        expect((await tap())?.openUntil).not.toBeNull();
        expect(slow.requests).toHaveLength(8);
      });
    } finally {
      await slow.close();
    }
  });
});

describe('an address that was refused for good', () => {
  it('is not written to again, by other notifications either', async () => {
    provider.behaviour = () => ({ status: 410 });
    await world.put(2);
    const [first, second] = [await claimOne(world, httpProvider(url)), await claimOne(world, httpProvider(url))];
    await world.sender().deal(first);
    await world.sender().deal(second);
    expect(provider.requests).toHaveLength(1);
    expect(await world.row(first.claimed.id)).toMatchObject({ state: 'failed', code: 'http-410' });
    expect(await world.row(second.claimed.id)).toMatchObject({ state: 'failed', code: 'bad-address', attempts: 0 });
    expect(await world.database.query('SELECT channel, code FROM notification_bad_address')).toEqual([
      { channel: 'sms', code: 'http-410' },
    ]);
  });
});

it('gives nothing to a provider that is disabled', async () => {
  await world.put(1);
  await world.claims.introduce('sms', 'sms');
  await world.database.query('UPDATE notification_provider SET disabled_at = now()');
  expect(await claim()).toBeUndefined();
  expect(await world.claims.due()).toEqual([]);
});
