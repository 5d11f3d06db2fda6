import { DeadLetterPublisher } from '../../../src/messaging/consumer/dlt/dead-letter-publisher';
import { Unpublished } from '../../../src/messaging/consumer/dlt/unpublished';
import { createLanePublisher, type LaneBatch, type LanePublisher, PublishError } from '../../../src/messaging/kafka';
import { type Clock, systemClock } from '../../../src/platform/clock';
import { eventually, type EventuallyOptions } from '../../support/eventually';
import { createTopic, deleteTopic, readAll, uniqueName } from '../../support/kafka';
import { quiet, settingsFor } from '../kafka/fixtures';
import { drainOf, passUntilIdle, releaseAll } from './drain/drain-harness';
import { addPartner, openWorld, parkedRows, type RecordShape, run, Tape, type World } from './harness';

const GARBAGE = Buffer.from([0xff, 0x00, 0xfe]);
let world: World;
const started: DeadLetterPublisher[] = [];

beforeAll(async () => (world = await openWorld()));
afterEach(async () => {
  await Promise.all(started.splice(0).map((publisher) => publisher.stop()));
  await world.database.query('TRUNCATE parked_inbound, parked_key CASCADE');
});
afterAll(() => world.close());

const open = (): LanePublisher => createLanePublisher(settingsFor(), quiet, 'dead-letters');

function startPublisher(openLanes = open, clock: Clock = systemClock): DeadLetterPublisher {
  const options = { open: openLanes, group: 'parley-test', clock, logger: quiet };
  const publisher = new DeadLetterPublisher({ unpublished: new Unpublished(world.database), ...options });
  started.push(publisher);
  publisher.start();
  return publisher;
}

/** A partner's inbound channel, and dead letters of it; the dead letter topic where it is wanted. */
async function deaths(shapes: readonly RecordShape[], dlt: Record<string, string> | 'none' = {}) {
  const partner = uniqueName('p');
  const topic = await addPartner(world, partner);
  if (dlt !== 'none') await createTopic(`${topic}-dlt`, { partitions: 3, exact: true, config: dlt });
  const tape = new Tape(topic, 2, 7n);
  await run(
    world,
    shapes.map((shape) => tape.record({ value: GARBAGE, ...shape })),
  );
  return { partner, topic };
}

const published = async (partner: string): Promise<boolean[]> =>
  (await parkedRows(world, partner)).map((row) => row['dlt_published_at'] !== null);

const until = (check: () => void | Promise<void>, options?: EventuallyOptions) =>
  eventually(async () => {
    await check();
    return true;
  }, options);

/** Makes everything due that waits behind a failure. */
const hurry = () => world.database.query(`UPDATE parked_inbound SET dlt_next_at = '-infinity'`);

/** A clock that stands: what has failed under it is not due again. */
function standing(): Clock {
  const at = new Date(Date.now() + 1_000);
  return { now: () => at };
}

/** A publisher without a broker. */
const unreachable = (): LanePublisher => ({
  leaderOf: () => Promise.resolve(0),
  send: (batch: LaneBatch) =>
    Promise.reject(new PublishError('broker-unreachable', 'refused', batch.topic, batch.partition, 'gone')),
  close: () => Promise.resolve(),
});

describe('the dead letter topic', () => {
  it('gets key, value and headers byte for byte, and why, on the same partition', async () => {
    const headers = { blob: Buffer.from([0, 255]), twice: ['a', 'b'], traceparent: '00-1-2-03' };
    const { partner, topic } = await deaths([
      { id: 'm-1', key: 'PO-1', timestamp: 1_700_000_000_123, headers },
      { key: null, value: null, headers: { ce_id: 'm-2' } },
    ]);
    startPublisher();
    await until(async () => expect(await published(partner)).toEqual([true, true]));
    const [letter, tombstone] = await readAll(`${topic}-dlt`);
    expect([letter?.partition, tombstone?.partition]).toEqual([2, 2]);
    expect([letter?.key, letter?.value]).toEqual([Buffer.from('PO-1'), GARBAGE]);
    expect([tombstone?.key, tombstone?.value]).toEqual([null, null]);
    const of = (name: string) => letter?.headerList.filter(([is]) => is === name).map(([, value]) => value);
    expect(of('blob')).toEqual([Buffer.from([0, 255])]);
    expect(of('twice')).toEqual([Buffer.from('a'), Buffer.from('b')]);
    expect(of('ce_id')).toEqual([Buffer.from('m-1')]);
    expect(of('kafka_dlt-original-topic')).toEqual([Buffer.from(topic)]);
    expect(of('kafka_dlt-original-partition')).toEqual([Buffer.from('00000002', 'hex')]);
    expect(of('kafka_dlt-original-offset')).toEqual([Buffer.from('0000000000000007', 'hex')]);
    expect(of('kafka_dlt-original-timestamp')).toEqual([Buffer.from('0000018bcfe5687b', 'hex')]);
    expect(of('kafka_dlt-original-consumer-group')).toEqual([Buffer.from('parley-test')]);
    expect(of('parley-dlt-code')?.map(String)).toEqual(['undecodable']);
    expect(of('parley-dlt-trace')?.map(String)).toEqual(['00-1-2-03']);
  });

  it('gets a letter again, and why, when a replay fails with it again', async () => {
    const partner = uniqueName('p');
    const topic = await addPartner(world, partner);
    await createTopic(`${topic}-dlt`, { partitions: 1, exact: true });
    await run(world, [new Tape(topic, 0).record()], () => ({ kind: 'dead', code: 'first', detail: 'never' }));
    startPublisher();
    await until(async () => expect(await published(partner)).toEqual([true]));
    await releaseAll(world, partner);
    await passUntilIdle(drainOf(world, () => ({ kind: 'dead', code: 'second', detail: 'never' })));
    const codes = async () => (await readAll(`${topic}-dlt`)).map(({ headers }) => String(headers['parley-dlt-code']));
    await until(async () => expect(await published(partner)).toEqual([true]));
    await until(async () => expect(await codes()).toEqual(['first', 'second']));
  });

  it('carries a header without a value', async () => {
    const { partner, topic } = await deaths([{}]);
    await world.database.query(
      `UPDATE parked_inbound SET header_names = header_names || '\\x6f6e65'::bytea, header_values = header_values || NULL::bytea WHERE partner = :partner`,
      { partner },
    );
    startPublisher();
    await until(async () => expect(await published(partner)).toEqual([true]));
    expect((await readAll(`${topic}-dlt`))[0]?.headers).toMatchObject({ one: null });
  });

  it('that is missing loses nothing and is told, while the letters of other topics go out; they follow when it is made', async () => {
    const lost = await deaths([{}, { key: 'b' }], 'none');
    const fine = await deaths([{}]);
    const publisher = startPublisher();
    await until(async () => expect(await published(fine.partner)).toEqual([true]));
    await until(() => {
      expect(publisher.unpublishedCount).toBe(2);
      expect(publisher.trouble).toContain(`"parley partner add ${lost.partner}" again`);
    });
    expect(publisher.trouble).toContain(`${lost.topic}-dlt: topic-missing`);
    expect(await parkedRows(world, lost.partner)).toMatchObject([
      {
        state: 'dead',
        raw_value: GARBAGE,
        dlt_published_at: null,
        dlt_trouble: expect.stringContaining('topic-missing') as string,
      },
      { state: 'dead' },
    ]);
    await createTopic(`${lost.topic}-dlt`, { partitions: 3, exact: true });
    await hurry();
    await until(async () => expect(await published(lost.partner)).toEqual([true, true]));
    await until(() => expect([publisher.unpublishedCount, publisher.trouble]).toEqual([0, undefined]));
  });

  it('that is deleted under a running client does not spoil the others', async () => {
    const [lost, fine] = [await deaths([{}]), await deaths([{}])];
    startPublisher();
    await until(async () =>
      expect((await Promise.all([lost, fine].map(({ partner }) => published(partner)))).flat()).toEqual([true, true]),
    );
    await deleteTopic(`${lost.topic}-dlt`);
    await world.database.query('UPDATE parked_inbound SET dlt_published_at = NULL');
    await hurry();
    await until(async () => expect((await parkedRows(world, lost.partner))[0]?.['dlt_trouble']).not.toBeNull(), {
      timeout: 40_000,
    });
    await until(
      async () => {
        await hurry();
        expect(await published(fine.partner)).toEqual([true]);
      },
      { interval: 500 },
    );
  });

  it('gets all but the letter that it does not take', async () => {
    const { partner, topic } = await deaths(
      [{ key: 'a' }, { key: 'b', value: Buffer.alloc(60_000, 0xff) }, { key: 'c' }, { key: 'd' }],
      { 'max.message.bytes': '20000' },
    );
    const publisher = startPublisher(open, standing());
    await until(async () => expect(await published(partner)).toEqual([true, false, true, true]));
    await until(() => expect(publisher.trouble).toContain('message-too-large'));
    expect((await readAll(`${topic}-dlt`)).map(({ key }) => String(key)).toSorted()).toEqual(['a', 'c', 'd']);
    expect((await parkedRows(world, partner))[1]).toMatchObject({ state: 'dead', dlt_attempts: 1 });
  });

  it('never gets what was resolved before it came to it', async () => {
    const { partner } = await deaths([{}], 'none');
    startPublisher(open, standing());
    await until(async () => expect((await parkedRows(world, partner))[0]?.['dlt_attempts']).toBe(1));
    await world.database.query(`UPDATE parked_inbound SET state = 'discarded', resolved_at = now()`);
    const { topic } = (await parkedRows(world, partner))[0] ?? { topic: '' };
    await createTopic(`${topic}-dlt`, { partitions: 3, exact: true });
    await hurry();
    const later = await deaths([{}]);
    await until(async () => expect(await published(later.partner)).toEqual([true]));
    expect(await readAll(`${topic}-dlt`)).toEqual([]);
  });

  it('gets each letter once from two processes', async () => {
    const { partner, topic } = await deaths(Array.from({ length: 120 }, (_, index) => ({ key: `k${index}` })));
    startPublisher();
    startPublisher();
    await until(async () => expect(new Set(await published(partner))).toEqual(new Set([true])));
    expect(await readAll(`${topic}-dlt`)).toHaveLength(120);
  });

  it('gets letters soon after the broker is back, however long it was away', async () => {
    await deaths([{}]);
    await world.database.query('UPDATE parked_inbound SET dlt_attempts = 12');
    startPublisher(unreachable);
    const waitOf = async () => {
      const [row] = await world.database.query<{ tried: boolean; ms: number }>(
        `SELECT dlt_attempts > 12 AS tried, extract(epoch FROM dlt_next_at - now())::float * 1000 AS ms FROM parked_inbound`,
      );
      return row;
    };
    await until(async () => expect(await waitOf()).toMatchObject({ tried: true }));
    expect((await waitOf())?.ms).toBeLessThanOrEqual(5_000);
  });

  it('is tried again by another process when one dies with letters in hand', async () => {
    const { partner } = await deaths([{}]);
    const hanging = startPublisher(unreachable);
    await until(() => expect(hanging.trouble).toContain('broker-unreachable'));
    await hanging.stop();
    startPublisher();
    await hurry();
    await until(async () => expect(await published(partner)).toEqual([true]));
  });
});

it('asks for unpublished letters by an index that holds nothing else', async () => {
  await world.database.query(
    `INSERT INTO parked_inbound (partner, key, state, channel_id, inbox_id, topic, partition, "offset", record_time, header_names, header_values, code, parked_at, dlt_published_at)
     SELECT 'plan', 'k', 'dead', 1, 'plan-' || n, 't', 0, n, now(), '{}', '{}', 'x', now(), now() FROM generate_series(1, 20000) n`,
  );
  await world.database.query('ANALYZE parked_inbound');
  const seen: string[] = [];
  const spy = {
    query: async (sql: string, values: Record<string, unknown>) => {
      const rows = await world.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
      seen.push(...rows.map((row) => row['QUERY PLAN']));
      return [];
    },
  };
  await new Unpublished(spy as unknown as World['database']).claim(50, new Date(), new Date());
  expect(seen.join('\n')).toMatch(/Index.*Scan using parked_inbound_unpublished/);
  expect(seen.join('\n')).not.toMatch(/Seq Scan on parked_inbound/);
});
