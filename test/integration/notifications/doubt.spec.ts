import {
  age,
  claimOne,
  CountingProvider,
  holdRow,
  httpProvider,
  LEASE,
  leaseOver,
  lockWaited,
  SendingWorld,
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

const SHORT = { leaseMs: 2_000 };
const QUICK = { timeoutMs: 100 };
/** As the holder of its row lets go: from then on so much of the lease is left, however long that took. */
const SHORTENED = `UPDATE notification SET lease_until = clock_timestamp() + interval '${SHORT.leaseMs} milliseconds'`;

/** One of this kind, put and claimed. */
async function claimed(kind: string, options: Parameters<typeof httpProvider>[1] = QUICK, lease = LEASE) {
  const [id = ''] = await world.put(1, { kind });
  const assignment = await claimOne(world, httpProvider(url, options), lease);
  return { id, assignment, sender: world.sender(lease) };
}

const beginningOf = (
  { assignment: { claimed: own, provider: used } }: Awaited<ReturnType<typeof claimed>>,
  leaseMs: number,
) => ({
  ...{ id: own.id, claim: own.claim, action: 'send' as const, content: { channel: 'sms' as const, text: 'Hello' } },
  ...{ timeoutMs: used.timeoutMs, leaseMs, notifier: 'killed' },
});

describe('a sender that sleeps past its lease', () => {
  it('between its claim and its attempt writes nothing and sends nothing', async () => {
    const { id, assignment, sender } = await claimed('asks', QUICK, SHORT);
    const row = await holdRow(world, id);
    const dealt = sender.deal(assignment);
    await lockWaited(world);
    await leaseOver(world, id);
    row.letGo();
    await Promise.all([dealt, row.ended]);
    expect(provider.requests).toEqual([]);
    expect(await world.attemptsOf(id)).toEqual([]);
    expect(await world.row(id)).toMatchObject({ state: 'pending', attempts: 0, doubtful: false, content: null });
  });

  it('between its claim and its attempt sends nothing when another has it', async () => {
    const { id, assignment, sender } = await claimed('asks');
    await age(world, id, LEASE.leaseMs);
    expect(await world.claims.recover()).toEqual({ doubtful: 0, unbegun: 1 });
    const other = await claimOne(world, httpProvider(url));
    await sender.deal(assignment);
    expect(provider.requests).toEqual([]);
    expect(await world.row(id)).toMatchObject({ state: 'sending', attempts: 0, claim: other.claimed.claim });
    await world.sender().deal(other);
    expect(await world.row(id)).toMatchObject({ state: 'sent', attempts: 1 });
  });

  it('between its attempt and the call sends nothing, and says that the attempt was none', async () => {
    const { id, assignment, sender } = await claimed('skips');
    const row = await holdRow(world, id);
    const dealt = sender.deal(assignment);
    await lockWaited(world);
    row.letGo(SHORTENED);
    // The database writes the attempt while this process stands still, as in a long pause of its machine.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SHORT.leaseMs);
    await Promise.all([dealt, row.ended]);
    expect(provider.requests).toEqual([]);
    expect(await world.attemptsOf(id)).toMatchObject([{ number: 1, outcome: 'not-sent', code: 'lease-over' }]);
    expect(await world.row(id)).toMatchObject({ state: 'pending', attempts: 1, doubtful: false });
  });

  it('in the call breaks it off', async () => {
    const { id, assignment, sender } = await claimed('asks');
    provider.behaviour = () => ({ hang: true });
    // A provider that does not look at its own timeout.
    const slow = { ...httpProvider(url, { timeoutMs: 60_000 }), timeoutMs: 100 };
    const row = await holdRow(world, id);
    const dealt = sender.deal({ ...assignment, provider: slow });
    await lockWaited(world);
    row.letGo(SHORTENED);
    const began = performance.now();
    await Promise.all([dealt, row.ended]);
    // Long before it would end by itself.
    expect(performance.now() - began).toBeLessThan(30_000);
    expect((await world.attemptsOf(id))[0]).toMatchObject({ outcome: 'unknown' });
    expect(await world.row(id)).toMatchObject({ state: 'pending', doubtful: true });
  });
});

describe('what is heard after the claim was lost', () => {
  /** Begun, and taken back by another when its lease was over. */
  async function lapsed(kind: string) {
    const one = await claimed(kind);
    const begun = await world.attempts.begin(beginningOf(one, LEASE.leaseMs));
    if (typeof begun === 'string') throw new Error(begun);
    await age(world, one.id, LEASE.leaseMs + QUICK.timeoutMs);
    expect(await world.claims.recover()).toEqual({ doubtful: 1, unbegun: 0 });
    const settle = (outcome: string, state: 'sent' | 'failed') =>
      world.attempts.settle(
        one.assignment.claimed,
        { number: begun.number, outcome, code: null, detail: null, reference: 'r', badAddress: false },
        { state, doubtful: false, code: null, detail: null },
        { provider: 'sms', says: 'fault', code: 'late', detail: null, retryAfterMs: 60_000, trial: null },
      );
    return { ...one, settle };
  }

  it('ends the doubt as long as nothing was begun since', async () => {
    const accepted = await lapsed('asks');
    expect(await accepted.settle('accepted', 'sent')).toBe('late');
    expect(await world.row(accepted.id)).toMatchObject({ state: 'sent', doubtful: false });
    const refused = await lapsed('asks');
    expect(await refused.settle('refused', 'failed')).toBe('late');
    expect(await world.row(refused.id)).toMatchObject({ state: 'failed', doubtful: false });
    expect(await world.attemptsOf(accepted.id)).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('ends also what the provider said that it had never heard of', async () => {
    const { id, settle } = await lapsed('asks');
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(await world.row(id)).toMatchObject({ state: 'pending', doubtful: false, code: 'not-found' });
    expect(await settle('accepted', 'sent')).toBe('late');
    expect(await world.row(id)).toMatchObject({ state: 'sent', attempts: 2 });
  });

  it('takes it out of the hands of another who has not begun, and counts nothing against the provider', async () => {
    const { id, settle } = await lapsed('repeats');
    const other = await claimOne(world, httpProvider(url));
    expect(await settle('accepted', 'sent')).toBe('late');
    await world.sender().deal(other);
    expect(provider.requests).toEqual([]);
    expect(await world.row(id)).toMatchObject({ state: 'sent', attempts: 1 });
    expect(await world.database.query('SELECT failures, open_until FROM notification_provider')).toEqual([
      { failures: 0, open_until: null },
    ]);
  });

  it('changes nothing but its attempt when another has begun, unless the provider has it', async () => {
    const { id, settle } = await lapsed('repeats');
    const other = await claimOne(world, httpProvider(url));
    await world.attempts.begin({ ...beginningOf({ id, assignment: other, sender: world.sender() }, 5_000) });
    expect(await settle('refused', 'failed')).toBe('lost');
    expect(await world.row(id)).toMatchObject({ state: 'sending', attempts: 2, claim: other.claimed.claim });
    expect(await world.attemptsOf(id)).toMatchObject([{ outcome: 'refused' }, { outcome: null }]);
  });

  it.each([
    ['unknown', 'nobody-knows', 'sent'],
    ['failed', 'may-have-gone-out', 'sent'],
    ['failed', 'resolved-not-delivered', 'failed'],
    ['cancelled', 'cancelled-by-staff', 'cancelled'],
  ])('%s (%s) and then accepted is %s', async (state, code, result) => {
    const { id, settle } = await lapsed('skips');
    await world.database.query('UPDATE notification SET state = :state, code = :code', { state, code });
    await settle('accepted', 'sent');
    expect((await world.row(id)).state).toBe(result);
  });
});

describe('a process that is killed', () => {
  type Case = [
    kind: string,
    at: 'behind its claim' | 'behind its attempt' | 'behind the call',
    remembers: boolean,
    effects: number,
    state: string,
  ];
  const cases: Case[] = ['repeats', 'skips', 'asks'].flatMap((kind): Case[] => [
    [kind, 'behind its claim', false, 1, 'sent'],
    [kind, 'behind its attempt', true, 1, 'sent'],
    [kind, 'behind the call', true, 1, 'sent'],
  ]);
  cases.push(
    ['repeats', 'behind its attempt', false, 1, 'sent'],
    ['repeats', 'behind the call', false, 2, 'sent'],
    ['skips', 'behind its attempt', false, 0, 'failed'],
    ['skips', 'behind the call', false, 1, 'failed'],
    ['asks', 'behind its attempt', false, 1, 'sent'],
    ['asks', 'behind the call', false, 1, 'sent'],
  );

  it.each(cases)('%s, %s, the provider remembers: %s → %i times, %s', async (kind, at, remembers, effects, state) => {
    provider.remembers = remembers;
    const options = { timeoutMs: 30_000, remembersMs: remembers ? 3_600_000 : 0 };
    const one = await claimed(kind, options);
    if (at !== 'behind its claim') {
      const begun = await world.attempts.begin(beginningOf(one, LEASE.leaseMs));
      if (typeof begun === 'string') throw new Error(begun);
      const letter = { ...one.assignment.claimed, ...begun };
      if (at === 'behind the call') await one.assignment.provider.send(letter, AbortSignal.timeout(30_000));
    }
    await age(world, one.id, LEASE.leaseMs + options.timeoutMs);
    world.notifier(() => httpProvider(url, options));
    await until(async () => expect(await world.row(one.id)).toMatchObject({ state, claim: null }));
    expect(provider.effects).toHaveLength(effects);
    const [before] = await world.attemptsOf(one.id);
    if (at !== 'behind its claim') expect(before).toMatchObject({ number: 1, outcome: null, ended_at: null });
  });

  it('leaves what nobody can be asked about for a person', async () => {
    const one = await claimed('asks');
    await world.attempts.begin(beginningOf(one, LEASE.leaseMs));
    await age(world, one.id, LEASE.leaseMs + QUICK.timeoutMs);
    world.notifier(() => httpProvider(url, { ...QUICK, looksUp: false }));
    await until(async () => expect(await world.row(one.id)).toMatchObject({ state: 'unknown', code: 'nobody-knows' }));
    expect(await world.row(one.id)).toMatchObject({ settled_at: null, doubtful: true });
    expect(provider.requests).toEqual([]);
    expect(world.lapsed).toEqual({ doubtful: 1, unbegun: 0 });
  });

  it('is not asked about before its lease and its timeout are over', async () => {
    const one = await claimed('asks');
    const begun = await world.attempts.begin(beginningOf(one, LEASE.leaseMs));
    await world.database.query('UPDATE notification SET lease_until = begun_at FROM notification_attempt');
    await world.claims.recover();
    const [attempt] = await world.attemptsOf(one.id);
    const { next_attempt_at: next, state } = await world.row(one.id);
    expect(begun).toMatchObject({ conclusiveAt: next });
    const wait = next.getTime() - (attempt?.begun_at.getTime() ?? 0);
    // Both are rounded to milliseconds.
    expect(Math.abs(wait - LEASE.leaseMs - QUICK.timeoutMs)).toBeLessThanOrEqual(1);
    expect(state).toBe('pending');
  });
});

it('is sent again only where the provider remembers it for as long as its sender may stand still', async () => {
  const remembers = { ...QUICK, remembersMs: 120_000 };
  const { id, assignment, sender } = await claimed('skips', remembers);
  // Of its memory half a lease is left.
  await world.database.query(
    `UPDATE notification SET doubtful = true, attempts = 1, first_begun_at = now() - interval '90 seconds'`,
  );
  const { first_begun_at: firstBegunAt } = await world.row(id);
  const known = { ...assignment.claimed, doubtful: true, attempts: 1, firstBegunAt };
  await sender.deal({ ...assignment, claimed: known });
  expect(provider.requests).toEqual([]);
  expect(await world.row(id)).toMatchObject({ state: 'failed', code: 'may-have-gone-out' });
});

it('is not asked about when too little of the lease is left, also where it has expired', async () => {
  const { id, assignment, sender } = await claimed('asks');
  await world.database.query(
    `UPDATE notification SET doubtful = true, expires_at = now(), lease_until = clock_timestamp() + interval '50 milliseconds'`,
  );
  const expired = { ...assignment.claimed, doubtful: true, expiresAt: assignment.claimed.createdAt };
  await sender.deal({ ...assignment, claimed: expired });
  expect(provider.lookUps).toEqual([]);
  expect(await world.row(id)).toMatchObject({ state: 'pending', doubtful: true, attempts: 0 });
});

it('sends the same in each attempt', async () => {
  const [id = ''] = await world.put(1, { kind: 'repeats' });
  let made = 0;
  const sender = () => world.sender({ render: () => ({ channel: 'sms', text: `made ${++made}` }) });
  provider.behaviour = () => ({ status: 500 });
  await sender().deal(await claimOne(world, httpProvider(url)));
  const { content } = await world.row(id);
  await until(async () => {
    await world.database.query('UPDATE notification SET next_attempt_at = now()');
    await sender().deal(await claimOne(world, httpProvider(url)));
    expect((await world.row(id)).attempts).toBeGreaterThan(1);
  });
  expect(content).toEqual({ channel: 'sms', text: 'made 1' });
  expect((await world.row(id)).content).toEqual(content);
  expect(made).toBe(1);
});
