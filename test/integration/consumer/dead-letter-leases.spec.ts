import { Unpublished } from '../../../src/messaging/consumer/dlt/unpublished';
import { uniqueName } from '../../support/kafka';
import { drainOf, passUntilIdle, releaseAll } from './drain/drain-harness';
import { addPartner, openWorld, parkedRows, run, Tape, type World } from './harness';

let world: World;
const inMs = (ms: number) => new Date(Date.now() + ms);

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('a publisher that has shown a death says nothing of one that came since', async () => {
  const partner = uniqueName('p');
  await run(world, [new Tape(await addPartner(world, partner)).record({ value: 'garbage' })]);
  const unpublished = new Unpublished(world.database);
  const lease = inMs(60_000);
  const slow = (await unpublished.claim(10, new Date(), lease)).map(({ id }) => id);
  await releaseAll(world, partner);
  await passUntilIdle(drainOf(world));
  await unpublished.published(slow, lease, new Date());
  expect(await parkedRows(world, partner)).toMatchObject([{ state: 'dead', dlt_published_at: null }]);
  const next = inMs(120_000);
  expect((await unpublished.claim(10, new Date(), next)).map(({ id }) => id)).toEqual(slow);
  await unpublished.failed(slow, lease, 'broker-unreachable: gone', new Date());
  await unpublished.published(slow, next, new Date());
  expect(await parkedRows(world, partner)).toMatchObject([
    { dlt_published_at: expect.any(Date) as Date, dlt_attempts: 0, dlt_trouble: null },
  ]);
});

test('a publisher that fails behind its lease says nothing of what another has published since', async () => {
  const partner = uniqueName('p');
  await run(world, [new Tape(await addPartner(world, partner)).record({ value: 'garbage' })]);
  const unpublished = new Unpublished(world.database);
  const [ended, lease] = [inMs(500), inMs(60_000)];
  const slow = (await unpublished.claim(10, new Date(), ended)).map(({ id }) => id);
  const other = (await unpublished.claim(10, inMs(1_000), lease)).map(({ id }) => id);
  await unpublished.published(other, lease, new Date());
  await unpublished.failed(slow, ended, 'broker-unreachable: gone', new Date());
  expect([slow.length, other]).toEqual([1, slow]);
  expect(await parkedRows(world, partner)).toMatchObject([{ dlt_trouble: null, dlt_attempts: 0 }]);
});
