import fc from 'fast-check';
import { errorReport, topicFor } from '../../../src/contracts';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { uniqueName } from '../../support/kafka';
import {
  addChannel,
  addPartner,
  addShipments,
  type Decide,
  ELSEWHERE,
  NOTE,
  openWorld,
  parkedRows,
  processorOf,
  Tape,
  TestBatch,
  type World,
} from './harness';

type Fate = 'applied' | 'retry' | 'dead' | 'throws' | 'garbage';

interface Plan {
  key: string | null;
  fate: Fate;
  isNote: boolean;
  /** On the partner's other topic. */
  elsewhere: boolean;
  /** Index of an earlier record, modulo their number: this one takes its id, or is the same over again. */
  like: { index: number; same: boolean } | undefined;
}

interface Made {
  record: InboundRecord;
  plan: Plan;
}

interface Topics {
  here: string;
  elsewhere: string;
}

const placeOf = ({ topic, offset }: { topic: string; offset: bigint | string }): string => `${topic} ${offset}`;

const plan: fc.Arbitrary<Plan> = fc.record({
  key: fc.constantFrom('order-1', 'order-2', 'order-3', null),
  fate: fc.constantFrom<Fate[]>('applied', 'applied', 'applied', 'applied', 'retry', 'dead', 'throws', 'garbage'),
  isNote: fc.constantFrom(false, false, false, true),
  elsewhere: fc.constantFrom(false, false, true),
  like: fc.option(fc.record({ index: fc.nat(50), same: fc.boolean() }), { nil: undefined, freq: 3 }),
});
/** Fetches: how many records each brings, and how far the next one starts before its end (redelivery). */
const fetches = fc.array(fc.record({ length: fc.integer({ min: 1, max: 9 }), back: fc.nat(4) }), { minLength: 1 });

function recordsOf(topics: Topics, plans: readonly Plan[]): Made[] {
  const tapes = { here: new Tape(topics.here), elsewhere: new Tape(topics.elsewhere) };
  const made: Made[] = [];
  for (const [index, one] of plans.entries()) {
    const drawn = one.like && made.length > 0 ? made[one.like.index % made.length] : undefined;
    // The same over again is on the same topic; the same id also on the other, where it is another message.
    const elsewhere = drawn && one.like?.same ? drawn.plan.elsewhere : one.elsewhere;
    const value = JSON.stringify({ orderNumber: one.key ?? 'order-0', step: String(index), fate: one.fate });
    const record = tapes[elsewhere ? 'elsewhere' : 'here'].record({
      key: one.key,
      id: drawn ? String(drawn.record.headers['ce_id']) : `id-${index}`,
      value: one.fate === 'garbage' ? `{${index}` : value,
      ...(elsewhere ? { contract: ELSEWHERE } : one.isNote ? { contract: NOTE } : {}),
    });
    made.push(
      drawn && one.like?.same
        ? { record: { ...drawn.record, offset: record.offset }, plan: drawn.plan }
        : { record, plan: { ...one, isNote: one.isNote && !elsewhere } },
    );
  }
  return made;
}

/** What must become of each record, by the rules, one record at a time: `duplicate` or its one state. */
function expected(made: readonly Made[]): Map<string, string> {
  const contents = new Map<string, string>();
  const parked = new Set<string>();
  const states = new Map<string, string>();
  for (const { record, plan } of made) {
    const id = `${record.topic} ${String(record.headers['ce_id'])}`;
    const place = placeOf(record);
    const content = `${String(record.key)} ${String(record.value)}`;
    const before = contents.get(id);
    if (before === content) {
      states.set(place, 'duplicate');
      continue;
    }
    if (before === undefined) contents.set(id, content);
    const isRefused = before !== undefined || plan.fate === 'garbage';
    const isHeld = !isRefused && plan.key !== null && parked.has(`${record.topic} ${plan.key}`);
    const state = isRefused || plan.fate === 'dead' ? 'dead' : plan.fate === 'applied' ? 'applied' : 'waiting';
    states.set(place, isHeld ? 'held' : state);
    if (!isHeld && state !== 'applied' && !plan.isNote && plan.key !== null) {
      parked.add(`${record.topic} ${plan.key}`);
    }
  }
  return states;
}

const decide: Decide = ({ value }) => {
  if (value['fate'] === 'throws') throw new Error('by plan');
  if (value['fate'] === 'retry' || value['fate'] === 'dead')
    return { kind: value['fate'], code: 'planned', detail: '' };
  return undefined;
};

describe('any sequence of records, repeats, failures and redeliveries', () => {
  let world: World;

  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  async function actual(partner: string): Promise<{ states: Map<string, string>; inOrder: boolean }> {
    const parked = await parkedRows(world, partner);
    const applied = await world.database.query<{ topic: string; offset: string; key: string }>(
      `SELECT c.topic, i."offset", e.order_number AS key FROM effect e
       JOIN channel c ON c.partner = e.partner JOIN inbox i ON i.channel_id = c.id AND e.message_id = c.topic || ' ' || i.message_id
       WHERE e.partner = :partner ORDER BY e.n`,
      { partner },
    );
    const states = new Map([
      ...applied.map((row) => [placeOf(row), 'applied'] as const),
      ...parked.map((row) => [placeOf(row), row.state] as const),
    ]);
    const isSorted = (offsets: number[]) =>
      offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0));
    // What has no key has no order.
    const keyed = [...applied, ...parked].filter((row) => row.key !== null && row.key !== 'order-0');
    const runs = [...Map.groupBy(keyed, (row) => `${row.topic} ${row.key} ${'state' in row}`).values()];
    const inOrder =
      states.size === applied.length + parked.length &&
      runs.every((run) => isSorted(run.map((row) => Number(row.offset))));
    return { states, inOrder };
  }

  /** Places of the records that were reported, sorted; as often as they were. */
  async function reported(topic: string): Promise<string[]> {
    const rows = await world.database.query<{ topic: string; offset: string }>(
      `SELECT r->>'topic' AS topic, r->>'offset' AS "offset"
       FROM outbox_message, convert_from(payload, 'UTF8') t, LATERAL (SELECT t::json AS r) j WHERE outbox_message.topic = :topic`,
      { topic },
    );
    return rows.map(placeOf).toSorted();
  }

  test('end each in exactly one recorded state, in order within a key, however they are batched', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { minLength: 1, maxLength: 30 }),
        fetches,
        fc.integer({ min: 1, max: 12 }),
        async (plans, windows, consumerBatchSize) => {
          const partner = uniqueName('p');
          const here = await addPartner(world, partner);
          const errors = await addChannel(world, partner, { topic: topicFor(errorReport, partner), direction: 'out' });
          const made = recordsOf({ here, elsewhere: await addShipments(world, partner) }, plans);
          const processor = processorOf(world, decide, { consumerBatchSize });
          for (let start = 0, turn = 0; start < made.length; turn++) {
            const { length, back } = windows[turn % windows.length] ?? { length: 1, back: 0 };
            const end = Math.min(made.length, start + length);
            const fetched = Map.groupBy(made.slice(start, end), ({ record }) => record.topic).values();
            const batches = [...fetched].map((some) => new TestBatch(some.map(({ record }) => record)));
            await Promise.all(batches.map((batch) => processor.process(batch)));
            // Progress of one at least.
            start = end === made.length ? end : Math.max(start + 1, end - back);
          }
          await processor.close();
          const { states, inOrder } = await actual(partner);
          const wanted = [...expected(made)].filter(([, state]) => state !== 'duplicate');
          expect(states).toEqual(new Map(wanted));
          expect(inOrder).toBe(true);
          const dead = wanted.filter(([, state]) => state === 'dead').map(([place]) => place);
          expect(await reported(errors)).toEqual(dead.toSorted());
        },
      ),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60) },
    );
  });
});
