import { CountingProvider, httpProvider, SendingWorld, TEST_KINDS, until } from './sending-world';

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

const KINDS = TEST_KINDS.map(({ name }) => name);
const claim = (perSecond: number, kinds = KINDS) =>
  world.claims.claim({ provider: 'sms', slots: 100, perSecond, leaseMs: 60_000, kinds });

/** All that several processes can get in a time, by the database's clock: calls and the seconds that they took. */
async function drain(
  perSecond: number,
  processes: number,
  wanted: number,
): Promise<{ count: number; seconds: number }> {
  let count = 0;
  const began = performance.now();
  const one = async () => {
    while (count < wanted) {
      const caught = await claim(perSecond);
      count += caught?.claimed.length ?? 0;
    }
  };
  await Promise.all(Array.from({ length: processes }, one));
  return { count, seconds: (performance.now() - began) / 1000 };
}

describe('the rate of a provider', () => {
  it.each([1, 6])('holds over all processes: %i', async (processes) => {
    await world.put(400);
    await world.claims.introduce('sms', 'sms');
    const { count, seconds } = await drain(100, processes, 150);
    // A full bucket (a quarter of a second's), and what has come in since.
    expect(count).toBeLessThanOrEqual(25 + 100 * seconds + 1);
    expect(count).toBeGreaterThanOrEqual(150);
    expect(seconds).toBeGreaterThan(1.2);
    const ids = await world.database.query(`SELECT id FROM notification WHERE state = 'sending'`);
    expect(ids).toHaveLength(count);
  });

  it('leaves no more in the bucket than a quarter of a second has, however long nothing was sent', async () => {
    await world.put(400);
    await world.claims.introduce('sms', 'sms');
    await claim(100);
    await world.database.query(`UPDATE notification_provider SET refilled_at = now() - interval '1 day'`);
    const caught = await claim(100);
    expect(caught?.claimed).toHaveLength(25);
    expect(caught?.waitMs).toBeGreaterThan(0);
    expect(caught?.waitMs).toBeLessThanOrEqual(10);
  });

  it('lets a slow provider have one at a time, and says when the next is to be had', async () => {
    await world.put(3);
    await world.claims.introduce('sms', 'sms');
    expect((await claim(0.01))?.claimed).toHaveLength(1);
    const next = await claim(0.01);
    expect(next?.claimed).toEqual([]);
    expect(next?.waitMs).toBeGreaterThan(50_000);
    expect(next?.waitMs).toBeLessThanOrEqual(100_000);
  });

  it('goes on when the clock of the database is set back', async () => {
    await world.put(3);
    await world.claims.introduce('sms', 'sms');
    await world.database.query(`UPDATE notification_provider SET tokens = 0, refilled_at = now() + interval '1 hour'`);
    expect((await claim(2))?.claimed).toHaveLength(1);
  });

  it('is kept by notifiers', async () => {
    await world.put(60);
    for (let n = 0; n < 3; n++) world.notifier(() => httpProvider(url, { perSecond: 40 }));
    const began = performance.now();
    await until(async () => expect(await world.states()).toEqual({ sent: 60 }));
    // 10 at once, 50 more at 40 a second.
    expect(performance.now() - began).toBeGreaterThan(1_200);
  });
});

describe('a claim', () => {
  it('leaves kinds of another release to it', async () => {
    await world.put(1, { kind: 'of-tomorrow' });
    await world.put(1);
    await world.claims.introduce('sms', 'sms');
    expect((await claim(100))?.claimed.map(({ kind }) => kind)).toEqual(['asks']);
  });

  it('takes what is due first, and nothing that is not', async () => {
    const [late] = await world.put(1, { dueInMs: -1_000 });
    const [first] = await world.put(1, { dueInMs: -60_000 });
    await world.put(1, { dueInMs: 60_000 });
    await world.claims.introduce('sms', 'sms');
    expect((await claim(4))?.claimed.map(({ id }) => id)).toEqual([first]);
    await until(async () => {
      const caught = (await claim(4))?.claimed ?? [];
      expect(caught.map(({ id }) => id)).toEqual([late]);
    });
  });
});
