import { uniqueName } from '../../../support/kafka';
import { addPartner, appliedSteps, openWorld, parkedKeys, parkedRows, run, Tape, type World } from '../harness';
import { drainOf, passUntilIdle, makeDue } from './drain-harness';

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

const tooEarly = { kind: 'retry', code: 'too-early', detail: 'not yet' } as const;

describe('a message that failed', () => {
  test('is applied when it is due and heals, and what was held behind it follows in order', async () => {
    const key = (index: number) => ({ key: index % 2 === 0 ? 'order-1' : 'order-2' });
    await run(world, tape.records(6, key), ({ value }) => (value.step === '0' ? tooEarly : undefined));
    const drain = drainOf(world);
    await passUntilIdle(drain);
    expect(await appliedSteps(world, partner, 'order-1')).toEqual([]);
    await makeDue(world, partner);
    await passUntilIdle(drain);
    expect(await appliedSteps(world, partner, 'order-1')).toEqual(['0', '2', '4']);
    expect((await parkedRows(world, partner)).map((row) => row.state)).toEqual(['processed', 'processed', 'processed']);
    expect(await parkedKeys(world, partner)).toEqual([]);
    await run(world, [tape.record()]);
    expect(await appliedSteps(world, partner, 'order-1')).toEqual(['0', '2', '4', '6']);
  });
});
