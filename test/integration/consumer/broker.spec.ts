import { Controller, type INestApplicationContext } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { typeOf } from '../../../src/contracts';
import {
  createTransport,
  HandlesContract,
  type InboundBatch,
  type Outcome,
  type ParleyTransport,
} from '../../../src/messaging/consumer';
import { createBatchSource } from '../../../src/messaging/kafka';
import { JsonCodec } from '../../../src/messaging/registry';
import { testConfig } from '../../support/config';
import { eventually } from '../../support/eventually';
import { createTopic, produce, uniqueName } from '../../support/kafka';
import {
  addPartner,
  appliedSteps,
  handler,
  logger,
  openWorld,
  parkedRows,
  type Step,
  STEP,
  type World,
} from './harness';

@Controller()
class StepHandler {
  @HandlesContract(STEP)
  step(batch: InboundBatch<Step>): Promise<Outcome[]> {
    return handler()(STEP, batch);
  }
}

interface Process {
  transport: ParleyTransport;
  stop(): Promise<void>;
}

describe('on a real broker', () => {
  let world: World;
  const started: INestApplicationContext[] = [];
  const groupId = uniqueName('group');

  beforeAll(async () => {
    world = await openWorld();
  });
  afterEach(() => Promise.all(started.splice(0).map((app) => app.close())));
  afterAll(() => world.close());

  /** One consumer process, as far as group, handlers and state in memory go. */
  async function startProcess(): Promise<Process> {
    const config = testConfig(world.url, { CONSUMER_BATCH_SIZE: '50' });
    const { database, channels } = world;
    const module = await Test.createTestingModule({ controllers: [StepHandler] }).compile();
    const app = module.createNestApplication(new FastifyAdapter());
    app.useLogger(false);
    const transport = createTransport({
      config,
      database,
      channels,
      codec: new JsonCodec(),
      logger,
      contracts: [STEP],
      makeSource: (topics, onBatch) =>
        createBatchSource(config, logger, {
          groupId,
          topics,
          onBatch,
          onFatal: (error) => fail(error),
          timing: { probe: 300 },
        }),
    });
    app.connectMicroservice({ strategy: transport }, { inheritAppConfig: true });
    await app.init();
    await app.startAllMicroservices();
    started.push(app);
    await eventually(() => transport.health().state === 'joined', { what: 'the group is joined' });
    return { transport, stop: () => transport.close() };
  }

  const fail = (error: Error): void => {
    throw error;
  };

  const documents = (from: number, count: number, keys: number) =>
    Array.from({ length: count }, (_, index) => {
      const orderNumber = `order-${(from + index) % keys}`;
      return {
        key: orderNumber,
        value: JSON.stringify({ orderNumber, step: String(from + index), key: 'k', value: 'v', headers: {} }),
        headers: { ce_id: `id-${from + index}`, ce_type: typeOf(STEP), ce_specversion: '1.0' },
      };
    });

  async function expectEachOnceInOrder(partner: string, count: number, keys: number): Promise<void> {
    const steps = (await appliedSteps(world, partner)).map(Number);
    expect(steps).toHaveLength(count);
    expect(new Set(steps).size).toBe(count);
    for (let key = 0; key < keys; key++) {
      const own = (await appliedSteps(world, partner, `order-${key}`)).map(Number);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  }

  test('records are applied once and in order through joins, leaves and restarts in the middle of batches', async () => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    await createTopic(topic, { partitions: 6, exact: true });
    const first = await startProcess();
    await produce(topic, documents(0, 2000, 20));
    const second = startProcess();
    await produce(topic, documents(2000, 2000, 20));
    await second;
    await first.stop();
    await produce(topic, documents(4000, 1000, 20));
    const third = await startProcess();
    await (await second).stop();
    await eventually(async () => (await appliedSteps(world, partner)).length >= 5000, {
      timeout: 90_000,
      what: 'all 5,000 are applied',
    });
    await third.stop();
    // Nothing is kept in memory: a new process finds all of it done, and a repeat of everything is only counted.
    const fourth = await startProcess();
    await produce(topic, [...documents(0, 200, 20), ...documents(9000, 1, 20)]);
    await eventually(async () => (await appliedSteps(world, partner)).length >= 5001, {
      what: 'the last one is applied',
    });
    // At least: what the broker hands out once more is one, too.
    await eventually(() => (fourth.transport.health().counts[topic]?.duplicate ?? 0) >= 200, {
      what: 'repeats are counted',
    });
    await expectEachOnceInOrder(partner, 5001, 20);
    expect(await parkedRows(world, partner)).toEqual([]);
  });

  test('garbage, a tombstone and a record without headers are stored, and the next record is processed', async () => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    await createTopic(topic, { exact: true });
    await startProcess();
    const garbage = Buffer.from([0xff, 0x00, 0xfe]);
    const headers = { ce_type: typeOf(STEP) };
    await produce(topic, [
      { key: 'a', value: garbage, headers: { ...headers, ce_id: '1', blob: Buffer.from([0, 0xff]) } },
      { key: 'b', value: null, headers: { ...headers, ce_id: '2' } },
      { key: 'c', value: '{}' },
      ...documents(7, 1, 20),
    ]);
    await eventually(async () => (await appliedSteps(world, partner)).length === 1);
    const rows = await parkedRows(world, partner);
    expect(rows.map((row) => row.code)).toEqual(['undecodable', 'tombstone-unsupported', 'contract-unknown']);
    expect(rows[0]?.raw_value).toEqual(garbage);
    expect(rows[0]?.header_values.at(-1)).toEqual(Buffer.from([0, 0xff]));
    expect(rows[1]?.raw_value).toBeNull();
  });

  test('a partner that is added while the consumer runs is heard', async () => {
    await startProcess();
    const partner = uniqueName('late');
    const topic = await addPartner(world, partner);
    await createTopic(topic, { exact: true });
    await produce(topic, documents(0, 3, 1));
    await eventually(async () => (await appliedSteps(world, partner)).length === 3, { timeout: 60_000 });
  });
});
