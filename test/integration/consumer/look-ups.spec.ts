import type { AnyContract } from '../../../src/contracts';
import { createProcessor } from '../../../src/messaging/consumer';
import { type Decoded, type Encapsulated, JsonCodec, type Route } from '../../../src/messaging/registry';
import { AppError, NonRetriableError } from '../../../src/platform/errors';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import {
  addPartner,
  addShipments,
  appliedSteps,
  CountingDatabase,
  ELSEWHERE,
  handler,
  LIMITS,
  logger,
  openWorld,
  parkedRows,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  untilDone,
  type World,
} from './harness';

/** Looks something up for records of one topic, for as long as a test likes; remembers when it was told they were fetched. */
class SlowCodec extends JsonCodec {
  readonly seenAt = new Map<string, number[]>();
  private readonly answers = Promise.withResolvers<void>();
  private failure: Error | undefined;

  constructor(private readonly slow: string) {
    super();
  }

  /** From now on; with a failure until it is mended. */
  answer(failure?: Error): void {
    this.failure = failure;
    this.answers.resolve();
  }

  mend(): void {
    this.failure = undefined;
  }

  override async decode(contract: AnyContract, route: Route, record: Encapsulated): Promise<Decoded> {
    const text = String(record.value);
    this.seenAt.set(text, [...(this.seenAt.get(text) ?? []), record.seenAt ?? 0]);
    if (route.topic === this.slow) await this.answers.promise;
    if (route.topic === this.slow && this.failure) throw this.failure;
    return super.decode(contract, route, record);
  }
}

describe('while a schema is looked up', () => {
  let world: World;
  let partner: string;
  let other: string;
  let tape: Tape;
  let otherTape: Tape;

  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    [partner, other] = [uniqueName('p'), uniqueName('q')];
    tape = new Tape(await addPartner(world, partner));
    otherTape = new Tape(await addPartner(world, other));
  });

  /** With room for one transaction at a time. */
  const processorWith = (codec: JsonCodec, more: Partial<typeof LIMITS> = {}) => {
    const { database, channels } = world;
    const config = { ...LIMITS, databasePoolSize: 2, ...more };
    return createProcessor({ config, database, channels, codec, logger, contracts: TEST_CONTRACTS }, handler());
  };

  test('other partners’ records are applied, and the partition stays ours', async () => {
    const codec = new SlowCodec(tape.topic);
    const processor = processorWith(codec);
    const waiting: TestBatch[] = [];
    const processed = untilDone(
      (batch) => processor.process(batch),
      tape.records(3, () => ({})),
      waiting,
    );
    const batch = new TestBatch([otherTape.record()]);
    await processor.process(batch);
    expect(batch.doneUpTo).toBe(0n);
    expect(await appliedSteps(world, other)).toEqual(['0']);
    await eventually(() => waiting.some(({ heartbeats }) => heartbeats > 0), {
      what: 'a heartbeat in the middle of a look-up',
    });
    expect(await appliedSteps(world, partner)).toEqual([]);
    codec.answer();
    await processed;
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
    expect(waiting.at(-1)?.doneUpTo).toBe(2n);
  });

  test('that takes long, the partition is given back, and keeps the time at which its records were seen', async () => {
    const codec = new SlowCodec(tape.topic);
    const processor = processorWith(codec);
    const first = new TestBatch([tape.record()]);
    const value = String(first.records[0]?.value);
    await processor.process(first);
    expect(first.pauses).toEqual([expect.stringContaining('still being looked up')]);
    expect(first.doneUpTo).toBeUndefined();
    expect(processor.signals.waitingFor).toBe('registry');
    const late = tape.record();
    codec.answer();
    const before = Date.now();
    await processor.process(new TestBatch([...first.records, late]));
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    const seen = codec.seenAt.get(value) ?? [];
    expect(seen.length).toBeGreaterThan(1);
    // A look-up that takes longer than a batch is kept in hand would otherwise always have begun too early.
    expect(new Set(seen).size).toBe(1);
    expect(codec.seenAt.get(String(late.value))?.[0]).toBeGreaterThanOrEqual(before);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('that a batch comes back from, it waits until there is room for its transaction', async () => {
    const codec = new SlowCodec(tape.topic);
    const { channels } = world;
    const database = new CountingDatabase(world.dataSource);
    const inside = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const good = handler(async (message) => {
      if (message.partner === other) {
        inside.resolve();
        await release.promise;
      }
      return undefined;
    });
    const config = { ...LIMITS, databasePoolSize: 2 };
    const processor = createProcessor({ config, database, channels, codec, logger, contracts: TEST_CONTRACTS }, good);
    const processed = untilDone((batch) => processor.process(batch), [tape.record()]);
    const busy = processor.process(new TestBatch([otherTape.record()]));
    await inside.promise;
    codec.answer();
    // A turn of the event loop in which it could begin, if there were room.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(database.transactions).toBe(1);
    release.resolve();
    await Promise.all([processed, busy]);
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });

  test('the partner’s other topics go on', async () => {
    const slow = new Tape(await addShipments(world, partner));
    // Long enough for both to be in one batch.
    const processor = processorWith(new SlowCodec(slow.topic), { consumerLingerMs: 100 });
    const [waiting, answers] = [
      new TestBatch([slow.record({ contract: ELSEWHERE })]),
      new TestBatch(tape.records(3, () => ({}))),
    ];
    await Promise.all([processor.process(waiting), processor.process(answers)]);
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1', '2']);
    expect(answers.doneUpTo).toBe(2n);
    expect(waiting.pauses).toEqual([expect.stringContaining('still being looked up')]);
    expect(waiting.doneUpTo).toBeUndefined();
  });

  test('closing waits for nothing and acknowledges nothing', async () => {
    const processor = processorWith(new SlowCodec(tape.topic));
    const batch = new TestBatch([tape.record()]);
    const processed = processor.process(batch);
    // The turn in which its look-up has begun.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await processor.close();
    await processed;
    expect(batch.doneUpTo).toBeUndefined();
    expect(batch.pauses).toEqual([]);
  });

  test.each([
    ['refuses us', new NonRetriableError('registry-refused', 'The schema registry does not accept our credentials.')],
    ['is not configured', new AppError('registry-unconfigured', 'No schema registry is configured.')],
  ])('a registry that %s is our trouble, not the record’s', async (_, failure) => {
    const codec = new SlowCodec(tape.topic);
    codec.answer(failure);
    const processor = processorWith(codec);
    const processed = untilDone((batch) => processor.process(batch), [tape.record()]);
    await eventually(() => processor.signals.waitingFor === 'registry');
    codec.mend();
    await processed;
    await processor.close();
    expect(await parkedRows(world, partner)).toEqual([]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });
});
