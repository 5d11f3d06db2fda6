import { createHash } from 'node:crypto';

/**
 * What the partner does with an order. `accept`, `reject`, `change`: answers AP, RE, CA. `slow`: AB at once, AP later.
 * `silent`: never answers. `duplicate`: writes its answer twice. `garbage`: writes bytes that are no document, then answers.
 */
export const BEHAVIOURS = ['accept', 'reject', 'change', 'slow', 'silent', 'duplicate', 'garbage'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export interface Rule {
  /** Order numbers that it covers. */
  pattern: RegExp;
  behaviour: Behaviour;
}

export interface Mix {
  /** The first rule that matches decides. */
  rules: readonly Rule[];
  /** Else the hash of the order number, in these proportions. */
  weights: readonly { behaviour: Behaviour; weight: number }[];
  /** Another seed, another distribution over the same order numbers. */
  seed: string;
}

/** The same order number gets the same behaviour in every run with the same mix. */
export function behaviourOf(orderNumber: string, { rules, weights, seed }: Mix): Behaviour {
  const rule = rules.find(({ pattern }) => pattern.test(orderNumber));
  if (rule) return rule.behaviour;
  const [first] = weights;
  if (!first) return 'accept';
  if (weights.length === 1) return first.behaviour;
  const total = weights.reduce((sum, { weight }) => sum + weight, 0);
  let point = (createHash('sha1').update(`${seed}\n${orderNumber}`).digest().readUIntBE(0, 6) / 2 ** 48) * total;
  for (const { behaviour, weight } of weights) {
    point -= weight;
    if (point < 0) return behaviour;
  }
  return first.behaviour;
}

const isBehaviour = (text: string): text is Behaviour => BEHAVIOURS.some((behaviour) => behaviour === text);

/** Reads `accept=8,reject=1,slow` (a weight is 1 when it is left out). Throws a RangeError that says what is wrong. */
export function parseWeights(text: string): Mix['weights'] {
  return text.split(',').map((part) => {
    const [name = '', weight = '1'] = part.trim().split('=');
    if (!isBehaviour(name)) throw new RangeError(`knows ${BEHAVIOURS.join(', ')}; not "${name}"`);
    if (!/^\d{1,6}$/.test(weight) || +weight === 0)
      throw new RangeError(`needs weights from 1 to 999999, not "${weight}"`);
    return { behaviour: name, weight: +weight };
  });
}

/** Reads `LATE-*=slow`: `*` stands for any characters. Throws a RangeError that says what is wrong. */
export function parseRule(text: string): Rule {
  const [pattern = '', name = ''] = text.split('=');
  if (!/^[A-Za-z0-9._*-]{1,64}$/.test(pattern)) throw new RangeError(`needs PATTERN=BEHAVIOUR, not "${text}"`);
  if (!isBehaviour(name)) throw new RangeError(`knows ${BEHAVIOURS.join(', ')}; not "${name}"`);
  const source = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
  return { pattern: new RegExp(`^${source.join('.*')}$`), behaviour: name };
}
