import { claimOne, CountingProvider, httpProvider, SendingWorld, until } from './sending-world';

let world: SendingWorld;
let url: string;
const provider = new CountingProvider();

beforeAll(async () => {
  world = await SendingWorld.open();
  url = await provider.listen();
});
beforeEach(async () => {
  await world.claims.introduce('sms', 'sms');
  await reopen();
});
afterEach(async () => {
  await world.clear();
  provider.reset();
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

/** As if it had failed often, and the time for a trial had come. */
const reopen = () =>
  world.database.query(
    `UPDATE notification_provider SET failures = 9, open_until = clock_timestamp() - interval '1 second', tokens = 0, refilled_at = NULL`,
  );
const write = (set: string, id: string) =>
  world.database.query(`UPDATE notification SET ${set} WHERE id = :id`, { id });
const tap = async () => {
  const [row] = await world.database.query<{ failures: number; openUntil: Date | null; isOpen: boolean }>(
    `SELECT failures, open_until AS "openUntil", coalesce(open_until > clock_timestamp(), false) AS "isOpen" FROM notification_provider`,
  );
  return row;
};

describe('the trial of a provider', () => {
  it('is what has not failed yet, and nothing that is in doubt, however long others wait', async () => {
    const [doubtful = ''] = await world.put(1, { dueInMs: -90_000, urgency: 'high' });
    await write('doubtful = true, attempts = 1', doubtful);
    const [often = ''] = await world.put(1, { dueInMs: -80_000, urgency: 'high' });
    await write('attempts = 3', often);
    const [once = ''] = await world.put(1, { dueInMs: -70_000 });
    await write('attempts = 1', once);
    const [urgent = ''] = await world.put(1, { dueInMs: -20_000, urgency: 'high' });
    const [fresh = ''] = await world.put(1, { dueInMs: -40_000 });
    for (const id of [urgent, fresh, once, often, doubtful]) {
      expect((await claimOne(world, httpProvider(url))).claimed.id).toBe(id);
      await reopen();
    }
  });

  it('that asks nobody is followed by the next one at once, and costs no token', async () => {
    await world.database.query(
      `WITH made AS (INSERT INTO notification_receiver (id, name, phone, quiet_from, quiet_to, time_zone, created_at, updated_at)
         VALUES ('kate', 'Kate', '+1', (now() AT TIME ZONE 'UTC' - interval '2 hours')::time,
           (now() AT TIME ZONE 'UTC' + interval '2 hours')::time, 'Etc/UTC', now(), now())) SELECT`,
    );
    await world.put(40, { kind: 'quiet', receiver: 'kate', dueInMs: -60_000, expiresInMs: 86_400_000 });
    const [id = ''] = await world.put(1);
    // Looked at once, and one token is all that there is for a long time.
    const looked = jest.spyOn(world.claims, 'due').mockResolvedValue([]).mockResolvedValueOnce(['sms']);
    world.notifier(() => httpProvider(url, { perSecond: 0.001 }));
    await until(async () => expect(await world.row(id)).toMatchObject({ state: 'sent' }));
    looked.mockRestore();
    expect(await tap()).toMatchObject({ failures: 0, openUntil: null });
    expect(provider.requests).toEqual([id]);
  });

  it('ends its own pause, and none that was made since', async () => {
    const [bad] = await world.put(1, { address: '+4900' });
    await world.database.query(`INSERT INTO notification_bad_address VALUES ('sms', '+4900', 'gone', 'Gone.', now())`);
    const stale = await claimOne(world, httpProvider(url));
    expect(stale.claimed.id).toBe(bad);
    // Somebody else was told to stay away for longer.
    await world.database.query(`UPDATE notification_provider SET open_until = open_until + interval '1 hour'`);
    const later = (await tap())?.openUntil;
    await world.sender().deal(stale);
    expect((await tap())?.openUntil).toEqual(later);
    await reopen();
    await world.put(1, { address: '+4900' });
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(await tap()).toMatchObject({ failures: 9, isOpen: false });
  });

  it('that says nothing of the provider ends its own pause, and none that was made since', async () => {
    await world.put(2);
    const given = { ...httpProvider(url), send: () => Promise.resolve(GIVEN_UP) };
    const stale = await claimOne(world, given);
    await world.database.query(`UPDATE notification_provider SET open_until = open_until + interval '1 hour'`);
    const later = (await tap())?.openUntil;
    await world.sender().deal(stale);
    expect((await tap())?.openUntil).toEqual(later);
    await reopen();
    await world.sender().deal(await claimOne(world, given));
    expect(await tap()).toMatchObject({ failures: 9, openUntil: expect.any(Date) as Date, isOpen: false });
  });
});

const GIVEN_UP = { kind: 'later', code: 'given-up', detail: 'No time was left.', fault: false, ours: true } as const;

describe('what was claimed and not sent', () => {
  it('leaves its token to what is sent', async () => {
    await world.database.query('UPDATE notification_provider SET failures = 0, open_until = NULL');
    await world.put(40, { address: '+4900', dueInMs: -60_000 });
    await world.database.query(`INSERT INTO notification_bad_address VALUES ('sms', '+4900', 'gone', 'Gone.', now())`);
    const [id] = await world.put(1);
    const claims = jest.spyOn(world.claims, 'claim');
    world.notifier(() => httpProvider(url, { perSecond: 4 }));
    await until(async () => expect(await world.states()).toEqual({ failed: 40, sent: 1 }));
    const caught = await Promise.all(
      claims.mock.results.map(({ value }) => value as ReturnType<typeof world.claims.claim>),
    );
    const unused = claims.mock.calls.map(([tap], n) => ((caught[n]?.claimed.length ?? 0) > 0 ? (tap.unused ?? 0) : 0));
    claims.mockRestore();
    // Not of all: some come back only after time has brought another, where the machine stands still.
    expect(unused.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(20);
    expect(provider.requests).toEqual([id]);
  });
});
