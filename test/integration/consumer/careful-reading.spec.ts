import { type InboundRecord } from '../../../src/messaging/kafka';
import { CarefulReading } from '../../../src/messaging/consumer/protection/careful-reading';
import { OneAtATime } from '../../../src/messaging/consumer/protection/one-at-a-time';
import { Presence } from '../../../src/messaging/consumer/protection/presence';
import { RegistryUnavailable } from '../../../src/messaging/registry';
import { systemClock } from '../../../src/platform/clock';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import {
  addPartner,
  appliedSteps,
  CountingDatabase,
  type Decide,
  logger,
  openWorld,
  parkedRows,
  processorOf,
  Tape,
  TestBatch,
  type World,
} from './harness';

let world: World;
const presences: Presence[] = [];
beforeAll(async () => (world = await openWorld()));
afterEach(() => Promise.all(presences.splice(0).map((presence) => presence.close())));
afterAll(() => world.close());

/** One consumer process, as far as marks go. It hangs at the record with the key `poison`, and `die` ends it there without a word. */
function startProcess(poison?: string, decide?: Decide, window = 20) {
  const presence = new Presence({ url: () => world.url, connectTimeoutMs: 20_000, name: 'test' }, logger);
  presences.push(presence);
  const database = new CountingDatabase(world.dataSource);
  const reading = new CarefulReading(
    database,
    { presence, instance: 'test', suspects: new OneAtATime() },
    window,
    systemClock,
    logger,
  );
  const hung = Promise.withResolvers<void>();
  const death = Promise.withResolvers<never>();
  death.promise.catch(() => undefined);
  const batches: TestBatch[] = [];
  const poisonous: Decide = (message) => {
    if (message.key !== poison) return decide?.(message);
    hung.resolve();
    return death.promise;
  };
  const processor = processorOf(world, poisonous, {}, { careful: reading });
  return {
    reading,
    hung: hung.promise,
    async read(records: readonly InboundRecord[]): Promise<TestBatch> {
      const batch = new TestBatch(records);
      batches.push(batch);
      await processor.process(batch);
      return batch;
    },
    /** The partition is another's now: what is in hand is given up, and nothing of it parked. */
    async lose(): Promise<void> {
      for (const batch of batches) batch.stale = true;
      death.reject(Object.assign(new Error('the connection is gone'), { code: '57P01' }));
      await processor.close();
    },
    async die(): Promise<void> {
      // From here on it writes nothing.
      database.before = () => Promise.reject(new Error('dead'));
      await presence.close();
      await this.lose();
      await gone(presence.run);
    },
    async end(): Promise<void> {
      await processor.close();
      await reading.leave();
    },
  };
}

const gone = (run: number) =>
  eventually(
    async () =>
      (await world.database.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = :run`, { run }))
        .length === 0,
    { what: 'the lock of the dead is gone' },
  );

async function partnerWith(count: number): Promise<{ partner: string; records: InboundRecord[]; topic: string }> {
  const partner = uniqueName('p');
  const topic = await addPartner(world, partner);
  const records = new Tape(topic).records(count, (index) => ({ key: `k${index}` }));
  return { partner, topic, records };
}

describe('reading after an unclean end', () => {
  it('costs nothing but a mark while processes end in order', async () => {
    const { partner, topic, records } = await partnerWith(30);
    const first = startProcess();
    await first.read(records.slice(0, 10));
    expect(await marks(topic)).toHaveLength(1);
    await first.end();
    expect(await marks(topic)).toEqual([]);
    const second = startProcess();
    await second.read(records.slice(10));
    expect((await appliedSteps(world, partner)).length).toBe(30);
    await second.end();
    expect(await starts(topic)).toEqual([]);
  });

  it('begins records one at a time, finds the one that ends processes after three starts, and goes on with the rest', async () => {
    const { partner, topic, records } = await partnerWith(12);
    for (let death = 0; death <= 3; death++) {
      const process = startProcess('k5');
      void process.read(records);
      await process.hung;
      await process.die();
      // The first end is blamed on nobody: a whole batch was in hand.
      expect(await starts(topic)).toEqual(death === 0 ? [] : [{ offset: '5', starts: death }]);
    }
    const last = startProcess('k5');
    const batch = await last.read(records);
    expect(batch.doneUpTo).toBe(11n);
    expect(await parkedRows(world, partner)).toMatchObject([
      { state: 'dead', code: 'process-killer', key: 'k5', failed_in: 'process', offset: '5' },
    ]);
    expect(new Set(await appliedSteps(world, partner)).size).toBe(11);
    await last.end();
    expect(await starts(topic)).toEqual([]);
  });

  it('does not blame a record whose reader lives and has only lost the partition', async () => {
    const { topic, records } = await partnerWith(3);
    const dead = startProcess('k0');
    void dead.read(records);
    await eventually(async () => (await marks(topic)).length === 1);
    await dead.die();
    for (let turn = 0; turn < 5; turn++) {
      const living = startProcess('k0');
      void living.read(records);
      await living.hung;
      // The first reads carefully, since its predecessor died; the next ones find that theirs lives.
      expect(await starts(topic)).toEqual(turn === 0 ? [{ offset: '0', starts: 1 }] : []);
      await living.lose();
    }
  });

  it('does not blame a record for an orderly end', async () => {
    const { topic, records } = await partnerWith(3);
    const dead = startProcess('k0');
    void dead.read(records);
    await eventually(async () => (await marks(topic)).length === 1);
    await dead.die();
    for (let turn = 0; turn < 4; turn++) {
      const process = startProcess('k0');
      void process.read(records);
      await process.hung;
      await process.lose();
      await process.reading.leave();
      expect(await starts(topic)).toEqual([]);
      const again = startProcess();
      await again.reading.enter(new TestBatch(records), world.channels.find(topic) as never);
      await again.die();
    }
  });

  it('does not blame a record that was put back since something of ours is away, when the process ends by something else', async () => {
    const { partner, topic, records } = await partnerWith(1);
    const dead = startProcess('k0');
    void dead.read(records);
    await eventually(async () => (await marks(topic)).length === 1);
    await dead.die();
    const process = startProcess(undefined, () => {
      throw new RegistryUnavailable('away');
    });
    const batch = await process.read(records);
    expect([batch.doneUpTo, batch.pauses.length]).toEqual([undefined, 1]);
    await process.die();
    expect(await starts(topic)).toEqual([]);
    expect(await parkedRows(world, partner)).toEqual([]);
    const next = startProcess();
    await next.read(records);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    await next.end();
  });

  it('does not count a record twice that comes again to the same process', async () => {
    const { topic, records } = await partnerWith(1);
    const dead = startProcess();
    await dead.read(records);
    await dead.die();
    const process = startProcess();
    const lane = { topic, partition: 0 };
    await process.reading.enter(new TestBatch(records), world.channels.find(topic) as never);
    for (let turn = 0; turn < 5; turn++) expect(await process.reading.begin(lane, 7n)).toBe(true);
    expect(await starts(topic)).toEqual([{ offset: '7', starts: 1 }]);
  });

  it('takes what was taken before in one go, and forgets nothing of a suspect behind it', async () => {
    const { partner, topic, records } = await partnerWith(60);
    const first = startProcess();
    await first.read(records.slice(0, 50));
    await first.die();
    const second = startProcess('k52', undefined, 5);
    void second.read(records);
    await second.hung;
    await second.die();
    // The offsets were never committed: all of it comes again, far more than the window.
    const third = startProcess('k52', undefined, 5);
    void third.read(records);
    await third.hung;
    expect(await starts(topic)).toEqual([{ offset: '52', starts: 2 }]);
    expect((await appliedSteps(world, partner)).length).toBe(52);
    await third.die();
  });

  it('has one suspect in hand at a time, whatever the number of partitions', async () => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    const tapes = [0, 1, 2].map((partition) =>
      new Tape(topic, partition).records(4, (index) => ({ key: `${partition}-${index}` })),
    );
    const dead = startProcess();
    await Promise.all(
      tapes.map((records) => dead.reading.enter(new TestBatch(records), world.channels.find(topic) as never)),
    );
    await dead.die();
    let inHand = 0;
    let most = 0;
    const process = startProcess(undefined, async () => {
      most = Math.max(most, ++inHand);
      await world.database.query('SELECT pg_sleep(0.02)');
      inHand--;
      return undefined;
    });
    await Promise.all(tapes.map((records) => process.read(records)));
    expect(most).toBe(1);
    expect((await appliedSteps(world, partner)).length).toBe(12);
    await process.end();
  });
});

const marks = (topic: string) => world.database.query('SELECT run FROM consumer_start WHERE topic = :topic', { topic });
const starts = (topic: string) =>
  world.database.query('SELECT "offset", starts FROM record_start WHERE topic = :topic AND starts > 0 ORDER BY 1', {
    topic,
  });
