import { randomBytes } from 'node:crypto';
import { REFUSED_BATCH } from '../../../src/messaging/kafka';
import { uniqueName } from '../../support/kafka';
import { drainOf, passUntilIdle } from './drain/drain-harness';
import { addPartner, appliedSteps, openWorld, parkedRows, run, Tape, type World } from './harness';

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

const DEPTH = 100_000;
const nested = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
const objects = '{"a":'.repeat(DEPTH) + '1' + '}'.repeat(DEPTH);

describe('a record that means harm costs its own key, and nothing else', () => {
  it.each([
    ['a document that is nothing but nesting', nested, 'undecodable'],
    ['one that is cut off in the depth', '['.repeat(DEPTH), 'undecodable'],
    ['a text where an object belongs, as large as a topic takes', JSON.stringify('x'.repeat(1_000_000)), 'invalid'],
    ['nesting of objects', objects, 'undecodable'],
    ['a document larger, unpacked, than any may be', `{"more":"${'x'.repeat(4 << 20)}"}`, 'document-too-large'],
    ['nesting in a member that nobody knows', `{"orderNumber":"bad","more":${nested}}`, 'undecodable'],
  ])('%s', async (_what, value, code) => {
    const batch = await run(world, [
      tape.record({ key: 'good' }),
      tape.record({ key: 'bad', value }),
      tape.record({ key: 'good' }),
    ]);
    expect(batch.doneUpTo).toBe(2n);
    expect(await appliedSteps(world, partner, 'good')).toEqual(['0', '2']);
    const [row, ...more] = await parkedRows(world, partner);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ key: 'bad', state: 'dead', code });
    expect(row?.raw_value?.length).toBe(value.length);
  });

  it('a whole batch that is too large to be unpacked is one dead letter, byte for byte, and stays one', async () => {
    const value = randomBytes(1_000);
    const refused = {
      ...tape.record({ key: null, value }),
      headers: { [REFUSED_BATCH]: Buffer.from('it holds too much') },
    };
    const batch = await run(world, [refused, tape.record({ key: 'good' })]);
    expect(batch.doneUpTo).toBe(1n);
    expect(await appliedSteps(world, partner)).toEqual(['1']);
    const [row] = await parkedRows(world, partner);
    expect(row).toMatchObject({ key: null, state: 'dead', code: 'batch-too-large', raw_value: value });
    // Sent again it says the same, not that it names no document.
    await world.database.query(`UPDATE parked_inbound SET state = 'waiting', next_attempt_at = now() WHERE id = :id`, {
      id: row?.['id'],
    });
    await passUntilIdle(drainOf(world));
    expect(await parkedRows(world, partner)).toMatchObject([
      { state: 'dead', code: 'batch-too-large', raw_value: value },
    ]);
  });

  it('brackets in a text are none, and a hundred levels may be', async () => {
    const texts = JSON.stringify({ orderNumber: 'bad', more: `"\\${'['.repeat(1_000)}` });
    const levels = `{"orderNumber":"bad","step":"deep","more":${'['.repeat(99)}${']'.repeat(99)}}`;
    await run(world, [tape.record({ key: 'bad', value: texts }), tape.record({ key: 'bad', value: levels })]);
    expect(await parkedRows(world, partner)).toEqual([]);
    expect(await appliedSteps(world, partner, 'bad')).toEqual([null, 'deep']);
  });
});
