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
const verdict = (journal: object[], steps: object[] = SLOW) =>
  compare(['A'], journal as Parameters<typeof compare>[1], new Map([['A', { steps: steps as typeof SLOW }]]));
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
