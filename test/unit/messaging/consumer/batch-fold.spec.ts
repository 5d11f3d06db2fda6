import type { AnyContract } from '../../../../src/contracts';
import { foldBatch, type FreshRecord } from '../../../../src/messaging/consumer/batch-fold';
import type { Outcome } from '../../../../src/messaging/consumer/handler';
import type { InspectedRecord } from '../../../../src/messaging/consumer/inspect';

const contract = (name: string, laterMessages: 'hold' | 'continue' = 'hold') =>
  ({ name, version: 1, laterMessages }) as unknown as AnyContract;
const ORDER = contract('order');
const OTHER = contract('other');
const NOTE = contract('note', 'continue');

const DEAD = { kind: 'dead', code: 'undecodable', detail: '' } as const;
const RETRY: Outcome = { kind: 'retry', code: 'too-early', detail: '' };
const APPLIED: Outcome = { kind: 'applied' };

function record(
  key: string | null,
  of: AnyContract | undefined = ORDER,
  refusal?: FreshRecord['refusal'],
): FreshRecord {
  return { inspected: { sequence: key, contract: of } as InspectedRecord, inboxId: '', refusal };
}

/** Folds and tells outcomes in the order of the records, keys that are parked, and what each call of a handler got. */
async function fold(
  records: FreshRecord[],
  answer: (record: FreshRecord) => Outcome = () => APPLIED,
  parked: string[] = [],
) {
  const runs: number[] = [];
  const result = await foldBatch(records, new Set(parked), (run) => {
    runs.push(run.length);
    return Promise.resolve(run.map(answer));
  });
  return { kinds: records.map((one) => result.outcomes.get(one)?.kind), parked: [...result.parkedKeys], runs };
}

describe('folding a batch', () => {
  test('gives a run of one contract to its handler at once', async () => {
    const records = [record('a'), record('b'), record('a', OTHER), record('b'), record('c')];
    expect(await fold(records)).toEqual({ kinds: Array(5).fill('applied'), parked: [], runs: [2, 1, 2] });
  });

  test('holds what stands behind a parked key, and hands it to nobody', async () => {
    expect(await fold([record('a'), record('b')], undefined, ['a'])).toEqual({
      kinds: ['held', 'applied'],
      parked: [],
      runs: [1],
    });
  });

  test('holds the rest of a key in a later run', async () => {
    const records = [record('a'), record('a', OTHER), record('b', OTHER)];
    expect(await fold(records, ({ inspected }) => (inspected.contract === ORDER ? RETRY : APPLIED))).toEqual({
      kinds: ['retry', 'held', 'applied'],
      parked: ['a'],
      runs: [1, 1],
    });
  });

  test('judges what stands before a dead letter of its key first', async () => {
    const records = [record('a'), record('a', ORDER, DEAD), record('a')];
    expect(await fold(records)).toEqual({ kinds: ['applied', 'dead', 'held'], parked: ['a'], runs: [1] });
  });

  test('turns every verdict behind a parked record of its key into held', async () => {
    const answers: Outcome[] = [RETRY, DEAD, { kind: 'held' }];
    expect(await fold([record('a'), record('a'), record('a')], () => answers.shift() ?? APPLIED)).toMatchObject({
      kinds: ['retry', 'held', 'held'],
    });
  });

  test('parks no key for a contract that lets later messages go on, but holds it behind others', async () => {
    expect(await fold([record('a', NOTE), record('a', NOTE)], () => RETRY)).toMatchObject({
      kinds: ['retry', 'retry'],
      parked: [],
    });
    expect(await fold([record('a', NOTE)], undefined, ['a'])).toMatchObject({ kinds: ['held'] });
  });

  test('takes an unknown document for one that carries state', async () => {
    const unknown = {
      ...record('a'),
      inspected: { sequence: 'a', contract: undefined } as unknown as InspectedRecord,
      refusal: DEAD,
    };
    expect(await fold([unknown, record('a')])).toMatchObject({ kinds: ['dead', 'held'], parked: ['a'] });
  });

  test('never holds a record without a key', async () => {
    expect(await fold([record(null), record(null)], () => RETRY)).toMatchObject({
      kinds: ['retry', 'retry'],
      parked: [],
    });
  });

  test.each<[string, Outcome[]]>([
    ['applies behind a message of its key that waits', [RETRY, APPLIED]],
    ['holds behind nothing', [{ kind: 'held' }, APPLIED]],
    ['returns too few outcomes', [APPLIED]],
  ])('refuses a handler that %s', async (_, answers) => {
    const folding = foldBatch([record('a'), record('a')], new Set(), () => Promise.resolve(answers));
    await expect(folding).rejects.toMatchObject({ code: 'handler-broken' });
  });
});
