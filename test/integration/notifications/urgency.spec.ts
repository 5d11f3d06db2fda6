import { SendingWorld, LEASE, TEST_KINDS } from './sending-world';

let world: SendingWorld;
beforeAll(async () => {
  world = await SendingWorld.open();
});
beforeEach(() => world.claims.introduce('sms', 'sms'));
afterEach(() => world.clear());
afterAll(() => world.close());

const claim = async (slots = 1) => {
  const kinds = TEST_KINDS.map(({ name }) => name);
  const caught = await world.claims.claim({ provider: 'sms', slots, perSecond: 10_000, ...LEASE, kinds });
  return caught?.claimed.map(({ id }) => id) ?? [];
};

describe('through one provider', () => {
  it('what is more urgent goes first, and of one urgency what waits longest', async () => {
    const [low] = await world.put(1, { urgency: 'low', dueInMs: -90_000 });
    const [normal] = await world.put(1, { urgency: 'normal', dueInMs: -60_000 });
    const [code] = await world.put(1, { urgency: 'high' });
    const [older] = await world.put(1, { urgency: 'high', dueInMs: -30_000 });
    await world.put(1, { urgency: 'high', dueInMs: 3_600_000 });
    expect(await world.claims.due()).toEqual(['sms']);
    expect(await claim(2)).toEqual(expect.arrayContaining([older, code]));
    expect([await claim(), await claim(), await claim()]).toEqual([[normal], [low], []]);
    expect(await world.claims.due()).toEqual([]);
  });

  it('is found due whatever its urgency', async () => {
    for (const urgency of ['low', 'normal', 'high'] as const) {
      await world.put(1, { urgency });
      expect(await world.claims.due()).toEqual(['sms']);
      await claim();
      expect(await world.claims.due()).toEqual([]);
    }
  });

  it('nothing waits for ever behind what is more urgent', async () => {
    const [normal] = await world.put(1, { urgency: 'normal' });
    const [low] = await world.put(1, { urgency: 'low' });
    await world.put(40, { urgency: 'high', dueInMs: -60_000 });
    const claimed: string[] = [];
    for (let n = 0; n < 16; n++) claimed.push(...(await claim()));
    expect(claimed).toHaveLength(16);
    expect(claimed).toEqual(expect.arrayContaining([normal, low]));
  });
});
