import { compare } from '../../../scripts/demo/compare.mjs';

const step = (name: string, offset: string | null = null) => ({
  step: name,
  messageId: `m-${name}`,
  topic: offset === null ? null : 't',
  partition: offset === null ? null : 0,
  offset,
});
const seen = (order: string, behaviour: string, id = `r-${order}`, offset = '0') => ({
  kind: 'seen',
  order,
  id,
  partition: 0,
  offset,
  behaviour,
});
const SLOW = [step('placed'), step('published', '0'), step('acknowledged', '4'), step('accepted', '9')];
type Journal = Parameters<typeof compare>[1];
const verdict = (journal: object[], steps: object[] = SLOW, asked: string[] = [], state?: string) => {
  const timeline = { steps: steps as typeof SLOW, ...(state === undefined ? {} : { state }) };
  return compare(['A'], journal as Journal, new Map([['A', timeline]]), asked);
};
const counts = ({ lost, repeated, outOfOrder }: ReturnType<typeof compare>) => [
  lost.length,
  repeated.length,
  outOfOrder.length,
];

describe('what the partner saw, held against what was accepted', () => {
  it('is without fault when each order went through its steps once', () => {
    expect(counts(verdict([seen('A', 'slow')]))).toEqual([0, 0, 0]);
  });

  it('names an order that the partner never saw as lost', () => {
    expect(counts(verdict([]))).toEqual([1, 0, 0]);
  });

  it('names an order whose answer had no effect as lost', () => {
    expect(counts(verdict([seen('A', 'slow')], SLOW.slice(0, 3)))).toEqual([1, 0, 0]);
  });

  it('names a request under two message ids as repeated', () => {
    expect(counts(verdict([seen('A', 'slow'), seen('A', 'slow', 'other')]))).toEqual([0, 1, 0]);
  });

  it('names a step that was gone through twice as repeated', () => {
    expect(counts(verdict([seen('A', 'slow')], [...SLOW, step('accepted', '10')]))).toEqual([0, 1, 0]);
  });

  it('names a request for an order that was never accepted as repeated', () => {
    expect(counts(verdict([seen('A', 'slow'), seen('B', 'accept')]))).toEqual([0, 1, 0]);
  });

  it('names steps that run backwards as out of order', () => {
    const backwards = [step('placed'), step('accepted', '4'), step('acknowledged', '9')];
    expect(counts(verdict([seen('A', 'slow')], backwards))).toEqual([0, 0, 1]);
  });

  it('names messages whose places run backwards as out of order', () => {
    const backwards = [step('placed'), step('acknowledged', '9'), step('accepted', '4')];
    expect(counts(verdict([seen('A', 'slow')], backwards))).toEqual([0, 0, 1]);
  });

  it('counts the same message at another place apart, and a record read twice not at all', () => {
    const journal = [seen('A', 'slow'), seen('A', 'slow', 'r-A', '7'), seen('A', 'slow', 'r-A', '7')];
    expect(verdict(journal)).toMatchObject({ repeated: [], redelivered: 1 });
  });
});

describe('a cancellation', () => {
  const cancelling = (decision: string, id = 'c-A') => ({
    ...{ kind: 'cancelling', order: 'A', decision, id, partition: 0, offset: '5' },
  });
  const steps = (...names: string[]) => names.map((name) => step(name));
  const CROSSED = steps('placed', 'cancellation-requested', 'accepted', 'cancelled');
  const ofA = (decision: string, happened: object[], state?: string) =>
    counts(verdict([seen('A', 'accept'), cancelling(decision)], happened, ['A'], state));

  it('is without fault when what the partner said of it was applied once, also when it crossed the acceptance', () => {
    expect(ofA('agree', CROSSED, 'cancelled')).toEqual([0, 0, 0]);
    const refused = steps('placed', 'accepted', 'cancellation-requested', 'cancellation-refused');
    expect(ofA('refuse', refused, 'accepted')).toEqual([0, 0, 0]);
  });

  it('is lost when the partner never saw it, or its answer had no effect', () => {
    expect(counts(verdict([seen('A', 'accept')], CROSSED.slice(0, 3), ['A']))).toEqual([1, 0, 0]);
    expect(ofA('agree', CROSSED.slice(0, 3))).toEqual([1, 0, 0]);
  });

  it('is lost when both sides end differently', () => {
    expect(ofA('agree', CROSSED, 'accepted')).toEqual([1, 0, 0]);
  });

  it('is repeated when its answer was applied twice, or the partner was asked under two ids or by nobody', () => {
    expect(ofA('agree', [...CROSSED, step('cancelled')])).toEqual([0, 1, 0]);
    const [a, b] = [cancelling('agree'), cancelling('agree', 'other')];
    expect(counts(verdict([seen('A', 'accept'), a, b], CROSSED, ['A']))).toEqual([0, 1, 0]);
    expect(counts(verdict([seen('A', 'accept'), cancelling('agree')], CROSSED))[1]).toBeGreaterThan(0);
  });

  it('is out of order when its answer stands before it', () => {
    expect(ofA('refuse', steps('placed', 'accepted', 'cancellation-refused', 'cancellation-requested'))[2]).toBe(1);
  });

  it('takes with it the answers that the partner withdrew for it, but not those that it had written', () => {
    const withdrawn = { kind: 'withdrawn', order: 'A', code: 'AP', id: 'a-A' };
    const without = steps('placed', 'cancellation-requested', 'cancelled');
    const journal = [seen('A', 'accept'), cancelling('agree'), withdrawn];
    expect(counts(verdict(journal, without, ['A'], 'cancelled'))).toEqual([0, 0, 0]);
    const written = { ...withdrawn, kind: 'answered' };
    expect(counts(verdict([...journal, written], without, ['A'], 'cancelled'))).toEqual([1, 0, 0]);
  });
});

describe('a despatch', () => {
  const despatching = (part: number) => ({
    ...{ kind: 'despatching', order: 'A', despatchNumber: `D-${part}`, id: `d-${part}` },
  });
  const receipt = (part: number, id = `r-${part}`) => ({
    ...{ kind: 'receipt', order: 'A', despatchNumber: `D-${part}`, id, partition: 0, offset: String(part) },
  });
  const shipped = (behaviour: string) => ({ ...seen('A', behaviour), despatches: 2 });
  const STEPS = ['placed', 'accepted', 'partly-shipped', 'shipped'].map((name) => step(name));
  const BOTH = [shipped('ship'), despatching(1), despatching(2)];

  it('is without fault when each has one effect and one receipt', () => {
    expect(counts(verdict([...BOTH, receipt(1), receipt(2)], STEPS, [], 'shipped'))).toEqual([0, 0, 0]);
    const refused = STEPS.toSpliced(2, 1, step('despatch-refused'));
    const journal = [shipped('over-ship'), ...BOTH.slice(1), receipt(1), receipt(2)];
    expect(counts(verdict(journal, refused, [], 'shipped'))).toEqual([0, 0, 0]);
  });

  it('is without fault also where it left for an order that the partner had no request for, once it is applied', () => {
    const shippedAtOnce = STEPS.toSpliced(2, 1);
    const journal = [despatching(1), seen('A', 'accept'), receipt(1)];
    expect(counts(verdict(journal, shippedAtOnce, [], 'shipped'))).toEqual([0, 0, 0]);
    expect(counts(verdict(journal, shippedAtOnce.slice(0, 2), [], 'accepted'))).toEqual([2, 0, 0]);
  });

  it('is lost without its effect or its receipt', () => {
    expect(counts(verdict([...BOTH, receipt(1), receipt(2)], STEPS.slice(0, 3)))).toEqual([1, 0, 0]);
    expect(counts(verdict([...BOTH, receipt(1)], STEPS))).toEqual([1, 0, 0]);
  });

  it('is repeated when it was applied twice or got two receipts, not when one receipt came twice', () => {
    expect(counts(verdict([...BOTH, receipt(1), receipt(2)], [...STEPS, step('shipped')]))).toEqual([0, 1, 0]);
    expect(counts(verdict([...BOTH, receipt(1), receipt(2), receipt(2, 'another')], STEPS))).toEqual([0, 1, 0]);
    const again = { ...receipt(2), offset: '9' };
    expect(verdict([...BOTH, receipt(1), receipt(2), again], STEPS)).toMatchObject({ repeated: [], redelivered: 1 });
  });

  it('is out of order when its parts were applied the other way round', () => {
    const backwards = [...STEPS.slice(0, 2), step('shipped'), step('partly-shipped')];
    expect(counts(verdict([...BOTH, receipt(1), receipt(2)], backwards))).toEqual([0, 0, 1]);
  });
});
