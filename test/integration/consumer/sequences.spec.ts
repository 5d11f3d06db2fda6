import fc from 'fast-check';
import type { InboundRecord } from '../../../src/messaging/kafka';
import { uniqueName } from '../../support/kafka';
import {
  addPartner,
  type Decide,
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
  /** Index of an earlier record, modulo their number: this one takes its id, or is the same over again. */
  like: { index: number; same: boolean } | undefined;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  key: fc.constantFrom('order-1', 'order-2', 'order-3', null),
  fate: fc.constantFrom<Fate[]>('applied', 'applied', 'applied', 'applied', 'retry', 'dead', 'throws', 'garbage'),
  isNote: fc.constantFrom(false, false, false, true),
  like: fc.option(fc.record({ index: fc.nat(50), same: fc.boolean() }), { nil: undefined, freq: 3 }),
});
/** Fetches: how many records each brings, and how far the next one starts before its end (redelivery). */
const fetches = fc.array(fc.record({ length: fc.integer({ min: 1, max: 9 }), back: fc.nat(4) }), { minLength: 1 });

function recordsOf(topic: string, plans: readonly Plan[]): { record: InboundRecord; plan: Plan }[] {
  const tape = new Tape(topic);
  const made: { record: InboundRecord; plan: Plan }[] = [];
  for (const [index, one] of plans.entries()) {
    const earlier = one.like && made.length > 0 ? made[one.like.index % made.length] : undefined;
    const value = JSON.stringify({ orderNumber: one.key ?? 'order-0', step: String(index), fate: one.fate });
    const record = tape.record({
      key: one.key,
      id: earlier ? String(earlier.record.headers['ce_id']) : `id-${index}`,
      value: one.fate === 'garbage' ? `{${index}` : value,
      ...(one.isNote ? { contract: NOTE } : {}),
    });
    made.push(
      earlier && one.like?.same
        ? { record: { ...earlier.record, offset: record.offset }, plan: earlier.plan }
        : { record, plan: one },
    );
  }
  return made;
}

/** What must become of each record, by the rules, one record at a time: `duplicate` or its one state. */
function expected(made: readonly { record: InboundRecord; plan: Plan }[]): Map<string, string> {
  const contents = new Map<string, string>();
  const parked = new Set<string>();
  const states = new Map<string, string>();
  for (const { record, plan } of made) {
    const id = String(record.headers['ce_id']);
    const content = `${String(record.key)} ${String(record.value)}`;
    const before = contents.get(id);
    if (before === content) {
      states.set(String(record.offset), 'duplicate');
      continue;
    }
    if (before === undefined) contents.set(id, content);
    const isRefused = before !== undefined || plan.fate === 'garbage';
    const isHeld = !isRefused && plan.key !== null && parked.has(plan.key);
    const state = isRefused || plan.fate === 'dead' ? 'dead' : plan.fate === 'applied' ? 'applied' : 'waiting';
    states.set(String(record.offset), isHeld ? 'held' : state);
    if (!isHeld && state !== 'applied' && !plan.isNote && plan.key !== null) parked.add(plan.key);
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
    const applied = await world.database.query<{ offset: string; key: string }>(
      `SELECT i."offset", e.order_number AS key FROM effect e JOIN inbox i ON e.message_id = :partner || ' ' || i.message_id
       JOIN channel c ON c.id = i.channel_id AND c.partner = :partner ORDER BY e.n`,
      { partner },
    );
    const states = new Map([
      ...applied.map((row) => [row.offset, 'applied'] as const),
      ...parked.map((row) => [row.offset, row.state] as const),
    ]);
    const isSorted = (offsets: number[]) =>
      offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0));
    // What has no key has no order.
    const keyed = [...applied, ...parked].filter((row) => row.key !== null && row.key !== 'order-0');
    const runs = [...Map.groupBy(keyed, (row) => `${row.key} ${'state' in row}`).values()];
    const inOrder =
      states.size === applied.length + parked.length &&
      runs.every((run) => isSorted(run.map((row) => Number(row.offset))));
    return { states, inOrder };
  }

  test('end each in exactly one recorded state, in order within a key, however they are batched', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { minLength: 1, maxLength: 30 }),
        fetches,
        fc.integer({ min: 1, max: 12 }),
        async (plans, windows, consumerBatchSize) => {
          const partner = uniqueName('p');
          const made = recordsOf(await addPartner(world, partner), plans);
          const processor = processorOf(world, decide, { consumerBatchSize });
          for (let start = 0, turn = 0; start < made.length; turn++) {
            const { length, back } = windows[turn % windows.length] ?? { length: 1, back: 0 };
            const end = Math.min(made.length, start + length);
            await processor.process(new TestBatch(made.slice(start, end).map(({ record }) => record)));
            // Progress of one at least.
            start = end === made.length ? end : Math.max(start + 1, end - back);
          }
          await processor.close();
          const { states, inOrder } = await actual(partner);
          const wanted = [...expected(made)].filter(([, state]) => state !== 'duplicate');
          expect([...states].toSorted(([a], [b]) => Number(a) - Number(b))).toEqual(wanted);
          expect(inOrder).toBe(true);
        },
      ),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60) },
    );
  }, 120_000);
});
