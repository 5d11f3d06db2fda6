import {
  addPartner,
  addShipments,
  appliedSteps,
  ELSEWHERE,
  NOTE,
  openWorld,
  OTHER_STEP,
  parkedKeys,
  parkedRows,
  processorOf,
  run,
  Tape,
  TestBatch,
  type World,
} from './harness';
import { uniqueName } from '../../support/kafka';

let world: World;
let partner: string;
let topic: string;
let tape: Tape;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  partner = uniqueName('p');
  topic = await addPartner(world, partner);
  tape = new Tape(topic);
});

describe('what stands behind a message that was not applied', () => {
  const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not yet' } as const;

  test('is held, in this batch and in later ones, while other keys flow', async () => {
    const key = (index: number) => ({ key: index % 2 === 0 ? 'order-1' : 'order-2' });
    await run(world, tape.records(4, key), (message) => (message.value.step === '0' ? tooEarly : undefined));
    await run(world, tape.records(4, key));
    expect(await appliedSteps(world, partner)).toEqual(['1', '3', '5', '7']);
    const rows = await parkedRows(world, partner);
    expect(rows.map((row) => [row.offset, row.state, row.attempts])).toEqual([
      ['0', 'waiting', 1],
      ['2', 'held', 0],
      ['4', 'held', 0],
      ['6', 'held', 0],
    ]);
    expect(rows[0]?.next_attempt_at?.getTime()).toBeGreaterThan(Date.now());
    expect(await parkedKeys(world, partner)).toEqual(['order-1']);
  });

  test('is held behind a dead letter too', async () => {
    await run(world, [tape.record({ value: 'garbage' }), tape.record(), tape.record({ key: 'order-2' })]);
    expect((await parkedRows(world, partner)).map((row) => row.state)).toEqual(['dead', 'held']);
  });

  test('is held in the order of its key where a dead letter stands between', async () => {
    await run(world, [tape.record(), tape.record({ value: 'garbage' }), tape.record()], (message) =>
      message.value.step === '0' ? tooEarly : undefined,
    );
    expect((await parkedRows(world, partner)).map((row) => [row.offset, row.state])).toEqual([
      ['0', 'waiting'],
      ['1', 'dead'],
      ['2', 'held'],
    ]);
  });

  test('leaves alone what stands before it in the batch', async () => {
    await run(world, [tape.record(), tape.record({ value: 'garbage' }), tape.record()]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
  });

  test('is held behind another contract, whose handler has just refused', async () => {
    await run(world, [tape.record(), tape.record({ contract: OTHER_STEP }), tape.record()], (message) =>
      message.value.step === '0' ? { kind: 'dead', code: 'illegal', detail: 'no' } : undefined,
    );
    expect((await parkedRows(world, partner)).map((row) => row.state)).toEqual(['dead', 'held', 'held']);
  });

  test('goes on where the contract says so', async () => {
    await run(
      world,
      tape.records(3, () => ({ contract: NOTE })),
      (message) => (message.value.step === '0' ? tooEarly : undefined),
    );
    expect(await appliedSteps(world, partner)).toEqual(['1', '2']);
    expect(await parkedKeys(world, partner)).toEqual([]);
  });
});

describe('the same key on another topic of the partner', () => {
  const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not accepted yet' } as const;

  test('is not held behind a message that waits for exactly it', async () => {
    const shipments = new Tape(await addShipments(world, partner));
    const advice = () => shipments.record({ contract: ELSEWHERE });
    await run(world, [advice()], () => tooEarly);
    await run(world, [tape.record()]);
    expect(await appliedSteps(world, partner)).toEqual(['0']);
    await run(world, [advice()]);
    expect((await parkedRows(world, partner)).map((row) => [row.topic, row.state])).toEqual([
      [shipments.topic, 'waiting'],
      [shipments.topic, 'held'],
    ]);
  });

  test('is not held in the same batch either', async () => {
    const shipments = new Tape(await addShipments(world, partner));
    const processor = processorOf(world, (message) => (message.topic === shipments.topic ? tooEarly : undefined), {
      consumerLingerMs: 50,
    });
    const batches = [
      new TestBatch(shipments.records(2, () => ({ contract: ELSEWHERE }))),
      new TestBatch(tape.records(2, () => ({}))),
    ];
    await Promise.all(batches.map((batch) => processor.process(batch)));
    await processor.close();
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    expect((await parkedRows(world, partner)).map((row) => row.state)).toEqual(['waiting', 'held']);
  });
});

describe('another partner', () => {
  test('that uses the same message id, key and correlation id touches nothing', async () => {
    const other = uniqueName('q');
    const otherTape = new Tape(await addPartner(world, other));
    const shape = { id: 'same', headers: { ce_correlationid: 'same' } };
    await run(world, [otherTape.record({ ...shape, value: 'garbage' }), otherTape.record()]);
    await run(world, [tape.record(shape), tape.record()]);
    expect(await appliedSteps(world, partner)).toEqual(['0', '1']);
    expect(await appliedSteps(world, other)).toEqual([]);
    expect(await parkedKeys(world, partner)).toEqual([]);
    expect(await parkedKeys(world, other)).toEqual(['order-1']);
  });
});
