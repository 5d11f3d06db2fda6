import { Attempts } from '../../../src/notifications/sending/attempts';
import { Database, query, type Tx } from '../../../src/platform/database';
import { claimOne, CountingProvider, httpProvider, SendingWorld, TEST_KINDS } from './sending-world';

let world: SendingWorld;
let url: string;
const provider = new CountingProvider();

beforeAll(async () => {
  world = await SendingWorld.open();
  url = await provider.listen();
});
afterEach(() => world.clear());
afterAll(async () => {
  await world.close();
  await provider.close();
});

/** A process that stands still between the last statement of its transaction and the commit, until it is woken. */
class Frozen extends Database {
  wake = (): void => undefined;
  private readonly woken = new Promise<void>((resolve) => (this.wake = resolve));
  private stood = (): void => undefined;
  /** Resolves when it stands still. */
  readonly stands = new Promise<void>((resolve) => (this.stood = resolve));

  override transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return super.transaction(async (tx) => {
      const result = await work(tx);
      this.stood();
      await this.woken;
      return result;
    });
  }
}

/**
 * Does `work` through a process that then stands still, and `meanwhile` while it does, which waits no longer than a statement may take; resolves with
 * how `work` ends when it wakes.
 */
async function frozen(work: (attempts: Attempts) => Promise<unknown>, meanwhile: () => Promise<unknown>) {
  const process = new Frozen(world.dataSource);
  const ended = work(new Attempts(process)).then(
    () => 'committed',
    () => 'rolled back',
  );
  try {
    await process.stands;
    await meanwhile();
  } finally {
    process.wake();
  }
  return ended;
}

const sms = () => httpProvider(url, { timeoutMs: 100 });
const claimed = async () => {
  const [id = ''] = await world.put(1, { kind: 'repeats' });
  const { claimed: own } = await claimOne(world, sms(), { leaseMs: 60_000 });
  return { id, claim: own.claim };
};
const beginning = {
  action: 'send',
  content: { channel: 'sms', text: 'Hello' },
  timeoutMs: 100,
  leaseMs: 60_000,
} as const;

describe('a notifier that stands still inside a transaction', () => {
  it('holds the row of what it begins for seconds, and has begun nothing', async () => {
    const ours = await claimed();
    const end = await frozen(
      (attempts) => attempts.begin({ ...ours, ...beginning, notifier: 'frozen' }),
      () =>
        world.database.transaction((tx) =>
          query(tx, 'SELECT 1 FROM notification WHERE id = :id FOR UPDATE', { id: ours.id }),
        ),
    );
    expect(end).toBe('rolled back');
    expect(await world.row(ours.id)).toMatchObject({ state: 'sending', attempts: 0, doubtful: false });
  });

  it('holds up nobody else who sends through its provider for longer', async () => {
    const ours = await claimed();
    await world.attempts.begin({ ...ours, ...beginning, notifier: 'frozen' });
    await world.put(1);
    const others = {
      provider: 'sms',
      slots: 1,
      perSecond: 50,
      leaseMs: 60_000,
      kinds: TEST_KINDS.map(({ name }) => name),
    };
    const end = await frozen(
      (attempts) =>
        attempts.settle(
          ours,
          { number: 1, outcome: 'accepted', code: null, detail: null, reference: null, badAddress: false },
          { state: 'sent', doubtful: false, code: null, detail: null },
          { provider: 'sms', says: 'accepted', code: null, detail: null, retryAfterMs: 0, trial: null },
        ),
      async () => expect((await world.claims.claim(others))?.claimed).toHaveLength(1),
    );
    expect(end).toBe('rolled back');
    expect(await world.row(ours.id)).toMatchObject({ state: 'sending', attempts: 1, doubtful: true });
  });
});
