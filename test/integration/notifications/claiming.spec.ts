import { CountingProvider, httpProvider, SendingWorld, until } from './sending-world';

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

describe('notifiers', () => {
  it.each([2, 8])('send each of 1,000 notifications once, %i at once', async (count) => {
    const ids = await world.put(1_000);
    for (let n = 0; n < count; n++) world.notifier(() => httpProvider(url));
    await until(async () => expect(await world.states()).toEqual({ sent: 1_000 }), {
      timeout: 110_000,
      interval: 100,
    });
    expect(provider.requests.toSorted()).toEqual(ids.toSorted());
    const [row] = await world.database.query<{ claims: number; attempts: number }>(
      `SELECT max(attempts) AS attempts, (SELECT count(*)::int FROM notification_attempt) AS claims FROM notification`,
    );
    expect(row).toEqual({ attempts: 1, claims: 1_000 });
  });

  it('send what is due at once through as many places as they have, and no more', async () => {
    await world.put(30);
    provider.behaviour = () => ({ hang: provider.requests.length < 5 });
    world.notifier(() => httpProvider(url), { concurrency: 4 });
    await until(() => expect(provider.requests).toHaveLength(4));
    provider.breakOff();
    await until(async () => expect(await world.states()).toMatchObject({ sent: 26 }));
    expect(provider.most).toBe(4);
  });

  it('have no connection to the database while a provider takes its time', async () => {
    const narrow = await SendingWorld.open(1);
    try {
      await narrow.put(4);
      provider.behaviour = () => ({ hang: true });
      narrow.notifier(() => httpProvider(url), { concurrency: 4 });
      await until(() => expect(provider.most).toBe(4));
    } finally {
      provider.breakOff();
      await narrow.close();
    }
  });
});
