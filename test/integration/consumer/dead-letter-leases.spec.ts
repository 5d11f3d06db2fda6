import { Unpublished } from '../../../src/messaging/consumer/dlt/unpublished';
import { uniqueName } from '../../support/kafka';
import { addPartner, openWorld, parkedRows, run, Tape, type World } from './harness';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('a publisher that fails behind its lease says nothing of what another has published since', async () => {
  const partner = uniqueName('p');
  await run(world, [new Tape(await addPartner(world, partner)).record({ value: 'garbage' })]);
  const unpublished = new Unpublished(world.database);
  const slow = (await unpublished.claim(10, new Date(), 0)).map(({ id }) => id);
  const other = (await unpublished.claim(10, new Date(Date.now() + 1_000), 0)).map(({ id }) => id);
  await unpublished.published(other, new Date());
  await unpublished.failed(slow, 'broker-unreachable: gone', new Date());
  expect([slow.length, other]).toEqual([1, slow]);
  expect(await parkedRows(world, partner)).toMatchObject([{ dlt_trouble: null, dlt_attempts: 0 }]);
});
