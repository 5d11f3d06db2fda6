import { BEHAVIOURS, behaviourOf, parseRule, parseWeights } from '../../../src/simulator/behaviour';

const numbers = Array.from({ length: 4000 }, (_, index) => `PO-${index}`);
const mix = (weights: string, seed = '') => ({ rules: [], weights: parseWeights(weights, BEHAVIOURS), seed });

describe('a behaviour', () => {
  it('is the same for an order number in every run', () => {
    const first = numbers.map((number) => behaviourOf(number, mix('accept=3,reject')));
    expect(numbers.map((number) => behaviourOf(number, mix('accept=3,reject')))).toEqual(first);
  });

  it('comes in the proportions of the mix', () => {
    const rejected = numbers.filter((number) => behaviourOf(number, mix('accept=3,reject')) === 'reject');
    expect(rejected.length / numbers.length).toBeCloseTo(0.25, 1);
  });

  it('is distributed otherwise under another seed', () => {
    const under = (seed: string) => numbers.map((number) => behaviourOf(number, mix('accept,reject', seed)));
    expect(under('a')).not.toEqual(under('b'));
  });

  it('follows the first rule that matches the order number', () => {
    const rules = ['LATE-*=slow', 'LATE-1=silent', '*.x=reject'].map((text) => parseRule(text, BEHAVIOURS));
    const of = (number: string) =>
      behaviourOf(number, { rules, weights: parseWeights('change', BEHAVIOURS), seed: '' });
    expect(['LATE-1', 'A.x', 'Azx', 'B'].map(of)).toEqual(['slow', 'reject', 'change', 'change']);
  });
});

describe('a rule', () => {
  it('may name a mix, too', () => {
    const rules = [parseRule('A-*=reject=3,slow', BEHAVIOURS)];
    const of = (number: string) =>
      behaviourOf(number, { rules, weights: parseWeights('accept', BEHAVIOURS), seed: '' });
    const rejected = numbers.filter((number) => of(`A-${number}`) === 'reject');
    expect(rejected.length / numbers.length).toBeCloseTo(0.75, 1);
    expect(numbers.filter((number) => of(number) !== 'accept')).toEqual([]);
  });
});

describe('what is written wrongly', () => {
  it.each(['', 'accpt', 'accept=0', 'accept=-1', 'accept=x'])('mix "%s" is refused', (text) => {
    expect(() => parseWeights(text, BEHAVIOURS)).toThrow(RangeError);
  });

  it.each(['LATE', '=slow', 'LATE-*=sloow', '(=slow'])('rule "%s" is refused', (text) => {
    expect(() => parseRule(text, BEHAVIOURS)).toThrow(RangeError);
  });
});
