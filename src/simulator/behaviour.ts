import { createHash } from 'node:crypto';

/**
 * What the partner does with an order. `accept`, `reject`, `change`: answers AP, RE, CA. `slow`: AB at once, AP later.
 * `silent`: never answers. `duplicate`: writes its answer twice. `garbage`: writes bytes that are no document, then answers.
 * `ship`: accepts, then despatches what was ordered. `over-ship`: accepts, announces more than was ordered, then what was.
 * `ship-early`: despatches at once, and accepts later. `misprint`: as `ship`, but its first advice has a decimal comma, which no
 * contract knows.
 */
export const BEHAVIOURS = [
  'accept',
  'reject',
  'change',
  'slow',
  'silent',
  'duplicate',
  'garbage',
  'ship',
  'over-ship',
  'ship-early',
  'misprint',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** What it says to a cancellation; who has despatched anything of the order refuses all the same. */
export const WISHES = ['agree', 'refuse'] as const;
export type Wish = (typeof WISHES)[number];

export interface Rule<B extends string = Behaviour> {
  /** Order numbers that it covers. */
  pattern: RegExp;
  weights: Weights<B>;
}

export interface Mix<B extends string = Behaviour> {
  /** The first rule that matches decides. */
  rules: readonly Rule<B>[];
  /** For all that no rule covers. */
  weights: Weights<B>;
  /** Another seed, another distribution over the same order numbers. */
  seed: string;
}

/** The hash of the order number chooses, in these proportions. */
export type Weights<B extends string> = readonly [Weight<B>, ...Weight<B>[]];

interface Weight<B extends string> {
  behaviour: B;
  weight: number;
}

/**
 * The same order number gets the same behaviour in every run with the same mix.
 * @param asked what the order itself asks for, by a test article; a rule comes before it, the mix behind
 */
export function behaviourOf<B extends string>(
  orderNumber: string,
  { rules, weights: others, seed }: Mix<B>,
  asked?: B,
): B {
  const rule = rules.find(({ pattern }) => pattern.test(orderNumber));
  if (!rule && asked !== undefined) return asked;
  const weights = rule?.weights ?? others;
  const [first] = weights;
  if (weights.length === 1) return first.behaviour;
  const total = weights.reduce((sum, { weight }) => sum + weight, 0);
  let point = (createHash('sha1').update(`${seed}\n${orderNumber}`).digest().readUIntBE(0, 6) / 2 ** 48) * total;
  for (const { behaviour, weight } of weights) {
    point -= weight;
    if (point < 0) return behaviour;
  }
  return first.behaviour;
}

/** Reads `accept=8,reject=1,slow` (a weight is 1 when it is left out). Throws a RangeError that says what is wrong. */
export function parseWeights<B extends string>(text: string, known: readonly B[]): Weights<B> {
  const [first = '', ...others] = text.split(',');
  return [parseWeight(first, known), ...others.map((part) => parseWeight(part, known))];
}

function parseWeight<B extends string>(text: string, known: readonly B[]): Weight<B> {
  const [name = '', weight = '1'] = text.trim().split('=');
  const behaviour = named(name, known);
  if (!/^\d{1,6}$/.test(weight) || +weight === 0)
    throw new RangeError(`needs weights from 1 to 999999, not "${weight}"`);
  return { behaviour, weight: +weight };
}

/** Reads `LATE-*=slow` or `A*=accept=3,reject`: `*` stands for any characters. Throws a RangeError that says what is wrong. */
export function parseRule<B extends string>(text: string, known: readonly B[]): Rule<B> {
  const [, pattern, mix] = /^([A-Za-z0-9._*-]{1,64})=(.+)$/.exec(text) ?? [];
  if (pattern === undefined || mix === undefined) throw new RangeError(`needs PATTERN=MIX, not "${text}"`);
  const source = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
  return { pattern: new RegExp(`^${source.join('.*')}$`), weights: parseWeights(mix, known) };
}

function named<B extends string>(name: string, known: readonly B[]): B {
  const behaviour = known.find((one) => one === name);
  if (behaviour === undefined) throw new RangeError(`knows ${known.join(', ')}; not "${name}"`);
  return behaviour;
}
