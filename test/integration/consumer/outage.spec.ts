import { type PostgresServer, startPostgres } from '../../../scripts/servers/index.mjs';
import type { AnyContract } from '../../../src/contracts';
import { createProcessor } from '../../../src/messaging/consumer';
import {
  type Decoded,
  type Encapsulated,
  JsonCodec,
  RegistryUnavailable,
  type Route,
} from '../../../src/messaging/registry';
import { query } from '../../../src/platform/database';
import { migrateDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import {
  addPartner,
  appliedSteps,
  handler,
  LIMITS,
  logger,
  openWorld,
  parkedKeys,
  parkedRows,
  processorOf,
  Tape,
  TEST_CONTRACTS,
  TestBatch,
  untilDone,
  type World,
} from './harness';

describe('while PostgreSQL is down', () => {
  let server: PostgresServer;
  let world: World;

  beforeAll(async () => {
    server = await startPostgres({ durable: true });
    await server.createDatabase('parley');
    await migrateDatabase(server.url('parley'));
    world = await openWorld(server.url('parley'));
  });
  afterAll(async () => {
    await world.close();
    await server.stop();
  });

  test('partitions wait, nothing is parked or counted, and it goes on alone', async () => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    const failures: unknown[] = [];
    const processor = processorOf(
      world,
      async ({ value }) => {
        // In the middle of a transaction, under the handler's feet.
        if (value.step === '120' && failures.length === 0) {
          failures.push(value);
          await server.kill();
        }
        return undefined;
      },
      { consumerBatchSize: 100 },
    );
    const consumed = untilDone(
      (batch) => processor.process(batch),
      tape.records(300, (index) => ({ key: `order-${index % 7}` })),
    );
    await eventually(() => processor.signals.waitingFor === 'database', { what: 'the consumer says that it waits' });
    expect(processor.signals.trouble).toMatch(/^The consumer waits: the database does not answer/);
    expect(processor.signals.oldestUnprocessed).toBeInstanceOf(Date);
    await server.restart();
    const batches = await consumed;
    await processor.close();
    expect(batches.reduce((sum, batch) => sum + batch.heartbeats, 0)).toBeGreaterThan(0);
    expect(await appliedSteps(world, partner)).toEqual([...Array(300).keys()].map(String));
    expect(await parkedRows(world, partner)).toEqual([]);
    expect(await parkedKeys(world, partner)).toEqual([]);
    expect(processor.signals).toMatchObject({
      waitingFor: undefined,
      trouble: undefined,
      oldestUnprocessed: undefined,
    });
  });

  test('a long wait gives the partition back, so that others of its broker flow', async () => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    const processor = processorOf(world);
    await server.kill();
    const batch = new TestBatch([tape.record()]);
    await processor.process(batch);
    expect(batch.pauses).toEqual([expect.stringMatching(/the database does not answer/)]);
    expect(batch.doneUpTo).toBeUndefined();
    expect(processor.signals.waitingFor).toBe('database');
    // It is not in hand any more, and still the oldest that waits.
    expect(processor.signals.oldestUnprocessed?.getTime()).toBe(batch.records[0]?.timestamp);
    await server.restart();
    await untilDone((again) => processor.process(again), batch.records);
    expect(processor.signals.waitingFor).toBeUndefined();
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });

  test('closing does not wait for it, and acknowledges nothing', async () => {
    const partner = uniqueName('p');
    const tape = new Tape(await addPartner(world, partner));
    const processor = processorOf(world);
    await server.kill();
    const batch = new TestBatch([tape.record()]);
    const processed = processor.process(batch);
    await eventually(() => processor.signals.waitingFor === 'database');
    await processor.close();
    await processed;
    expect(batch.doneUpTo).toBeUndefined();
    expect(batch.pauses).toEqual([]);
    await server.restart();
  });
});

describe('while something else of ours fails', () => {
  let world: World;
  let partner: string;
  let tape: Tape;

  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    partner = uniqueName('p');
    tape = new Tape(await addPartner(world, partner));
  });

  test('a registry that is away is waited for; no message is blamed', async () => {
    class FlakyCodec extends JsonCodec {
      isAway = true;
      override decode(contract: AnyContract, route: Route, record: Encapsulated): Promise<Decoded> {
        return this.isAway
          ? Promise.reject(new RegistryUnavailable('no answer'))
          : super.decode(contract, route, record);
      }
    }
    const codec = new FlakyCodec();
    const { database, channels } = world;
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec, logger, contracts: TEST_CONTRACTS },
      handler(),
    );
    const processed = untilDone(
      (batch) => processor.process(batch),
      tape.records(2, () => ({})),
    );
    await eventually(() => processor.signals.waitingFor === 'registry');
    codec.isAway = false;
    await processed;
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('a codec that throws costs its record an attempt, and no more', async () => {
    class BrokenCodec extends JsonCodec {
      override decode(contract: AnyContract, route: Route, record: Encapsulated): Promise<Decoded> {
        if (record.value.includes('"step":"1"')) throw new RangeError('out of bounds');
        return super.decode(contract, route, record);
      }
    }
    const { database, channels } = world;
    const codec = new BrokenCodec();
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec, logger, contracts: TEST_CONTRACTS },
      handler(),
    );
    await processor.process(new TestBatch(tape.records(3, (index) => ({ key: `order-${index}` }))));
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '2']);
    expect(await parkedRows(world, partner)).toMatchObject([{ state: 'waiting', attempts: 1, offset: '1' }]);
  });

  test('a database that only reads, as after a failover, is waited for', async () => {
    const { database, channels } = world;
    const good = handler();
    let left = 3;
    const processor = createProcessor(
      { config: LIMITS, database, channels, codec: new JsonCodec(), logger, contracts: TEST_CONTRACTS },
      async (contract, batch) => {
        if (left-- > 0) await query(batch.tx, 'SET LOCAL transaction_read_only = on');
        return good(contract, batch);
      },
    );
    await untilDone((batch) => processor.process(batch), [tape.record()]);
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('a record that can be neither applied nor parked stays in the topic', async () => {
    await world.database.query('ALTER TABLE parked_inbound RENAME TO parked_inbound_away');
    const processor = processorOf(world);
    const batch = new TestBatch([tape.record({ value: 'garbage' })]);
    await processor.process(batch);
    expect(batch.doneUpTo).toBeUndefined();
    expect(processor.signals).toMatchObject({ waitingFor: 'parking' });
    await world.database.query('ALTER TABLE parked_inbound_away RENAME TO parked_inbound');
    await untilDone((again) => processor.process(again), batch.records);
    await processor.close();
    expect(await parkedRows(world, partner)).toMatchObject([{ code: 'undecodable' }]);
  });

  test('a topic whose channel is not read yet is waited for', async () => {
    const late = uniqueName('late');
    const topic = `orders.${late}.response.v1`;
    const processor = processorOf(world);
    const processed = untilDone((batch) => processor.process(batch), [new Tape(topic).record()]);
    await addPartner(world, late);
    await processed;
    await processor.close();
    expect(await appliedSteps(world, late)).toEqual(['0']);
  });
});
