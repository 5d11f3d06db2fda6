import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  type INestApplicationContext,
} from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { typeOf } from '../../../src/contracts';
import { Metrics } from '../../../src/health';
import { createTransport, HandlesContract, type InboundBatch, type Outcome } from '../../../src/messaging/consumer';
import type { BatchSource, RecordBatch } from '../../../src/messaging/kafka';
import { JsonCodec } from '../../../src/messaging/registry';
import { NonRetriableError } from '../../../src/platform/errors';
import { eventually } from '../../support/eventually';
import { uniqueName } from '../../support/kafka';
import {
  addPartner,
  appliedSteps,
  handler,
  LIMITS,
  logger,
  NOTE,
  openWorld,
  OUTGOING,
  parkedRows,
  type Step,
  STEP,
  Tape,
  TestBatch,
  type World,
} from './harness';

const CONTRACTS = [STEP, NOTE, OUTGOING];

@Controller()
class StepHandler {
  @HandlesContract(STEP)
  async step(batch: InboundBatch<Step>): Promise<Outcome[]> {
    if (batch.messages.some(({ value }) => value.step === 'never')) throw new NonRetriableError('never-so', 'By rule.');
    if (batch.messages.some(({ value }) => value.step === 'bug')) throw new TypeError('x is not a function');
    return handler()(STEP, batch);
  }
}

@Controller()
class NoteHandler {
  @HandlesContract(NOTE)
  note(batch: InboundBatch<Step>): Promise<Outcome[]> {
    return handler()(NOTE, batch);
  }
}

@Controller()
class BareHandler {
  @EventPattern<string>(typeOf(NOTE))
  note(batch: InboundBatch<Step>): Outcome[] {
    return batch.messages.map(() => ({ kind: 'applied' }));
  }
}

@Controller()
class StrangeHandler {
  @HandlesContract(OUTGOING)
  outgoing(): Promise<Outcome[]> {
    return Promise.resolve([]);
  }
}

/** Answers HTTP requests; it must never see what a message handler throws. */
@Catch()
class HttpFilter implements ExceptionFilter {
  seen = 0;

  catch(_exception: unknown, _host: ArgumentsHost): void {
    this.seen++;
  }
}

/** A source that a test feeds by hand. */
class HandFedSource implements BatchSource {
  state = 'joined' as const;
  everJoined = true;
  lastActivity = undefined;
  trouble = undefined;
  isClosed = false;

  constructor(
    public topics: readonly string[],
    readonly feed: (batch: RecordBatch) => Promise<void>,
  ) {}

  start(): void {
    this.isClosed = false;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  restart(topics: readonly string[]): Promise<void> {
    this.topics = topics;
    return Promise.resolve();
  }
}

describe('the transport', () => {
  let world: World;
  let source: HandFedSource | undefined;
  let app: INestApplicationContext | undefined;
  const filter = new HttpFilter();

  beforeAll(async () => {
    world = await openWorld();
  });
  afterEach(async () => {
    await app?.close();
    app = source = undefined;
  });
  afterAll(() => world.close());

  async function start(...controllers: (new () => object)[]) {
    const module = await Test.createTestingModule({ controllers }).compile();
    const nest = module.createNestApplication(new FastifyAdapter());
    nest.useLogger(false);
    nest.useGlobalFilters(filter);
    const { database, channels } = world;
    const transport = createTransport({
      config: LIMITS,
      database,
      channels,
      codec: new JsonCodec(),
      logger,
      contracts: CONTRACTS,
      makeSource: (topics, feed) => (source = new HandFedSource(topics, feed)),
    });
    nest.connectMicroservice({ strategy: transport }, { inheritAppConfig: true });
    app = nest;
    await nest.init();
    await nest.startAllMicroservices();
    return transport;
  }

  test.each([
    ['no handler', [StepHandler], 'parley.test-note.v1 has no handler'],
    ['two handlers', [StepHandler, NoteHandler, class extends NoteHandler {}], 'more than one handler'],
    ['a handler that loses errors', [StepHandler, BareHandler], 'not declared with @HandlesContract'],
    [
      'a handler of what nobody sends',
      [StepHandler, NoteHandler, StrangeHandler],
      'parley.test-outgoing.v1, which no partner sends',
    ],
  ])('refuses to start with %s for a contract, and names it', async (_, controllers, fault) => {
    await expect(start(...controllers)).rejects.toThrow(fault);
  });

  test('names every fault at once', async () => {
    await expect(start()).rejects.toThrow('parley.test-step.v1 has no handler; parley.test-note.v1 has no handler');
  });

  test('hands batches to the methods, and their errors come back as they are', async () => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    const transport = await start(StepHandler, NoteHandler);
    const fed = await eventually(() => source);
    expect(fed.topics).toContain(topic);
    const tape = new Tape(topic);
    const shape = (step: string) => ({ key: step, value: JSON.stringify({ orderNumber: step, step }) });
    const batch = new TestBatch([
      tape.record(shape('a')),
      tape.record(shape('never')),
      tape.record(shape('bug')),
      tape.record({ ...shape('b'), contract: NOTE }),
      tape.record({ key: 'c', value: 'garbage' }),
    ]);
    await fed.feed(batch);
    expect(batch.doneUpTo).toBe(4n);
    expect(await appliedSteps(world, partner)).toEqual(['a', 'b']);
    expect(await parkedRows(world, partner)).toMatchObject([
      { state: 'dead', code: 'never-so', key: 'never' },
      { state: 'waiting', code: 'handler-failed', key: 'bug', detail: 'x is not a function' },
      { state: 'dead', code: 'undecodable', key: 'c' },
    ]);
    expect(filter.seen).toBe(0);
    expect(transport.health()).toMatchObject({
      state: 'joined',
      everJoined: true,
      oldestUnprocessedAgeMs: 0,
      waitingFor: undefined,
      counts: { [topic]: { applied: 2, retry: 1, dead: 2, held: 0, duplicate: 0 } },
      // What a handler refuses breaks no contract of the wire.
      violations: { [topic]: { undecodable: 1 } },
    });
    const metrics = new Metrics();
    metrics.watch(null, transport);
    expect(await metrics.registry.metrics()).toContain(
      `parley_contract_violations_total{topic="${topic}",code="undecodable"} 1`,
    );
  });

  test('reads a channel that is added while it runs', async () => {
    await addPartner(world, uniqueName('p'));
    const transport = await start(StepHandler, NoteHandler);
    const fed = await eventually(() => source);
    const topic = await addPartner(world, uniqueName('late'));
    await eventually(() => fed.topics.includes(topic), { what: 'the new topic is read' });
    await transport.close();
    await transport.close();
    expect(fed.isClosed).toBe(true);
  });
});
