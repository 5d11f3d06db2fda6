import type { Provider } from '../../../src/notifications/channels/provider';
import { claimOne, CountingProvider, httpProvider, SendingWorld } from './sending-world';

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

it('forgets what a secret said when it is over, and shows no address that a provider quoted', async () => {
  const [id = ''] = await world.put(1, { kind: 'secret' });
  provider.behaviour = () => ({ status: 403 });
  await world.sender().deal(await claimOne(world, httpProvider(url)));
  expect(await world.row(id)).toMatchObject({ state: 'failed', data: {}, content: null });
  const [attempt] = await world.attemptsOf(id);
  expect(attempt?.detail).toContain('It answered 403 about');
  expect(JSON.stringify([attempt, (await world.row(id)).detail])).not.toContain('4915112345678');
});

it('shows nowhere what a secret said, also where its provider quoted it', async () => {
  const [id = ''] = await world.put(1, { kind: 'secret' });
  const claimed = await claimOne(world, httpProvider(url));
  const quoting: Provider = {
    ...{ channel: 'sms', remembersMs: 0, timeoutMs: 1_000, perSecond: 100 },
    send: () => Promise.resolve({ kind: 'refused', code: 'refused', detail: 'Bad content: "Your code is 1234."' }),
    close: () => Promise.resolve(),
  };
  await world.sender().deal({ ...claimed, provider: quoting });
  const shown = JSON.stringify([await world.attemptsOf(id), await world.row(id)]);
  expect(shown).toContain('Your code is [secret].');
  expect(shown).not.toContain('1234.');
});
