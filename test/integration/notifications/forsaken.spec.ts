import type { ReceiverDraft } from '../../../src/notifications/domain/receiver';
import { Receivers } from '../../../src/notifications/receivers/receivers';
import { receiver } from './core-stage';
import { claimOne, CountingProvider, httpProvider, SendingWorld } from './sending-world';

let world: SendingWorld;
let receivers: Receivers;
let url: string;
const provider = new CountingProvider();

beforeAll(async () => {
  world = await SendingWorld.open();
  receivers = new Receivers(world.database);
  url = await provider.listen();
});
beforeEach(() => put({ ...kate, phone: PHONE }, null));
afterEach(async () => {
  await world.clear();
  provider.reset();
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

const PHONE = '+4915112345678';
const kate: ReceiverDraft = { ...receiver('kate'), email: 'kate@example.com' };
const put = (draft: ReceiverDraft, seen: number | null) =>
  world.database.transaction((tx) => receivers.put(tx, draft, seen, new Date()));
const remove = () => world.database.transaction((tx) => receivers.remove(tx, 'kate', 1, new Date()));

describe('what is being sent while its receiver goes', () => {
  it.each([
    ['is no longer reached that way', 'address-removed', () => put(kate, 1)],
    ['is removed', 'receiver-removed', remove],
  ])('is not sent again when that fails: it %s', async (_, code, goes) => {
    const [id = ''] = await world.put(1, { kind: 'repeats', receiver: 'kate', address: PHONE });
    const sending = await claimOne(world, httpProvider(url));
    await goes();
    provider.behaviour = () => ({ status: 503 });
    await world.sender().deal(sending);
    expect(await world.row(id)).toMatchObject({ state: 'pending', attempts: 1 });
    await world.database.query('UPDATE notification SET next_attempt_at = now()');
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(provider.requests).toHaveLength(1);
    const row = await world.row(id);
    expect(row).toMatchObject({ state: 'cancelled', code, attempts: 1, claim: null });
    expect(row.settled_at).not.toBeNull();
  });

  it('says that it may have gone out, where nobody heard the end of its attempt', async () => {
    const [id = ''] = await world.put(1, { kind: 'repeats', receiver: 'kate', address: PHONE });
    const sending = await claimOne(world, httpProvider(url, { timeoutMs: 100 }));
    await put(kate, 1);
    provider.behaviour = () => ({ hang: true });
    await world.sender().deal(sending);
    expect(await world.row(id)).toMatchObject({ state: 'pending', doubtful: true });
    await world.database.query('UPDATE notification SET next_attempt_at = now()');
    await world.sender().deal(await claimOne(world, httpProvider(url)));
    expect(await world.row(id)).toMatchObject({
      ...{ state: 'cancelled', doubtful: true },
      detail: 'Its receiver is no longer reached that way. Its last attempt may have gone out.',
    });
  });
});
