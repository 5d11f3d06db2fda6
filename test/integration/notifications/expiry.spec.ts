import { claimOne, CountingProvider, holdRow, httpProvider, lockWaited, SendingWorld, until } from './sending-world';

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

const inDoubt = () =>
  world.database.query('UPDATE notification SET doubtful = true, attempts = 1, first_begun_at = now()');

describe('what is worth nothing any more', () => {
  it('is never sent, and says so', async () => {
    const [id = ''] = await world.put(1, { expiresInMs: -1 });
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(provider.requests).toEqual([]);
    expect(await world.row(id)).toMatchObject({ state: 'expired', code: 'expired', attempts: 0 });
    expect(world.results).toEqual(['expired']);
  });

  it('is not sent when that comes between its claim and its attempt', async () => {
    const [id = ''] = await world.put(1, { expiresInMs: 700 });
    const assignment = await claimOne(world, httpProvider(url));
    const row = await holdRow(world, id);
    const dealt = world.sender().deal(assignment);
    await lockWaited(world);
    await until(async () =>
      expect(
        await world.database.query('SELECT 1 FROM notification WHERE expires_at < clock_timestamp()'),
      ).toHaveLength(1),
    );
    row.letGo();
    await Promise.all([dealt, row.ended]);
    expect(provider.requests).toEqual([]);
    expect(await world.row(id)).toMatchObject({ state: 'expired', attempts: 0 });
  });

  it('ends also where no provider is there to send it, or its tap is shut', async () => {
    const [closed = '', disabled = ''] = [
      ...(await world.put(1, { expiresInMs: -1 })),
      ...(await world.put(1, { provider: 'webhook/dead', kind: 'secret', expiresInMs: -1 })),
    ];
    const [waiting = ''] = await world.put(1);
    await world.claims.introduce('sms', 'sms');
    await world.database.query(`UPDATE notification_provider SET open_until = now() + interval '1 hour'`);
    world.notifier(() => undefined);
    await until(async () => expect((await world.row(closed)).state).toBe('expired'));
    await until(async () => expect(await world.row(disabled)).toMatchObject({ state: 'expired', data: {} }));
    expect((await world.row(disabled)).settled_at).toBeInstanceOf(Date);
    expect((await world.row(waiting)).state).toBe('pending');
  });

  it.each([
    ['repeats', 'expired'],
    ['skips', 'failed'],
    ['asks', 'pending'],
  ])('and in doubt (%s) is %s without its provider', async (kind, state) => {
    const [id = ''] = await world.put(1, { kind, expiresInMs: -1 });
    await inDoubt();
    await world.upkeep().pass();
    expect(await world.row(id)).toMatchObject({ state, doubtful: true });
  });

  it('and in doubt is left to a person when its provider could not be asked for a day', async () => {
    const [id = ''] = await world.put(1, { kind: 'asks', expiresInMs: -86_400_001 });
    await inDoubt();
    await world.upkeep().pass();
    expect(await world.row(id)).toMatchObject({ state: 'unknown', settled_at: null });
  });

  it('and in doubt is looked up first, where its kind asks', async () => {
    const [id = ''] = await world.put(1, { kind: 'asks', expiresInMs: -1 });
    await inDoubt();
    provider.effects.push(id);
    world.notifier(() => httpProvider(url));
    await until(async () => expect(await world.row(id)).toMatchObject({ state: 'sent', code: 'found' }));
    expect(provider.requests).toEqual([]);
  });
});

describe('quiet hours', () => {
  const receiver = (from: string, to: string) =>
    world.database.query(
      `WITH made AS (INSERT INTO notification_receiver (id, name, phone, quiet_from, quiet_to, time_zone, created_at, updated_at)
         VALUES ('kate', 'Kate', '+1', :from::time, :to::time, 'Etc/UTC', now(), now())) SELECT`,
      { from, to },
    );
  /** `HH:MM` by the UTC clock, so many minutes from now. */
  const clock = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);

  it('are waited for, without an attempt, by what came to them while it waited', async () => {
    await receiver(clock(-60), clock(60));
    const [id = ''] = await world.put(1, { kind: 'quiet', receiver: 'kate', expiresInMs: 86_400_000 });
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    const row = await world.row(id);
    expect(row).toMatchObject({ state: 'pending', attempts: 0, code: 'quiet-hours' });
    expect(row.next_attempt_at.getTime()).toBeGreaterThan(Date.now() + 58 * 60_000);
    expect(provider.requests).toEqual([]);
  });

  it('are nothing to a kind that ignores them, and over when they are over', async () => {
    await receiver(clock(-60), clock(60));
    const [urgent = ''] = await world.put(1, { kind: 'repeats', receiver: 'kate' });
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    await world.database.query(
      "UPDATE notification_receiver SET quiet_from = quiet_from + interval '2 hours', quiet_to = quiet_to + interval '2 hours'",
    );
    const [later = ''] = await world.put(1, { kind: 'quiet', receiver: 'kate' });
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect([(await world.row(urgent)).state, (await world.row(later)).state]).toEqual(['sent', 'sent']);
  });
});

describe('a notifier that is stopped', () => {
  it('claims nothing more, lets what it began end, and gives back what it did not begin', async () => {
    const ids = await world.put(20);
    provider.behaviour = () => ({ hang: true });
    const notifier = world.notifier(() => httpProvider(url), { concurrency: 4 });
    await until(() => expect(provider.requests).toHaveLength(4));
    const stopped = notifier.stop();
    provider.breakOff();
    await stopped;
    expect(provider.requests).toHaveLength(4);
    const rows = await Promise.all(ids.map((id) => world.row(id)));
    expect(rows.filter(({ claim }) => claim !== null)).toEqual([]);
    expect(
      rows.filter(({ attempts }) => attempts === 0).every(({ state, version }) => state === 'pending' && version === 1),
    ).toBe(true);
    expect(rows.filter(({ attempts }) => attempts === 1)).toHaveLength(4);
  });

  it('while it claims gives back what it gets, and the trial of a provider with it', async () => {
    const [id = ''] = await world.put(1);
    await world.claims.introduce('sms', 'sms');
    await world.database.query(
      `UPDATE notification_provider SET failures = 5, open_until = now() - interval '1 second'`,
    );
    const row = await holdRow(world, 'sms', 'notification_provider');
    const notifier = world.notifier(() => httpProvider(url));
    await lockWaited(world);
    const stopped = notifier.stop();
    row.letGo();
    await Promise.all([stopped, row.ended]);
    expect(provider.requests).toEqual([]);
    expect(await world.row(id)).toMatchObject({ state: 'pending', attempts: 0, doubtful: false, version: 3 });
    const { claimed, trial } = await claimOne(world, httpProvider(url));
    expect([claimed.id, trial]).toEqual([id, expect.any(Date)]);
  });
});
