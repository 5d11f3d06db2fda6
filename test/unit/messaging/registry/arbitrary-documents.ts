import fc, { type Arbitrary } from 'fast-check';
import {
  type AnyContract,
  CODE_PATTERN,
  CURRENCY_PATTERN,
  DECIMAL_PATTERN,
  INTEGER_PATTERN,
  ORDER_NUMBER_PATTERN,
  POSITIVE_DECIMAL_PATTERN,
} from '../../../../src/contracts';

interface Rule {
  type: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Rule;
  properties?: Record<string, Rule>;
  required?: string[];
}

const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
const whole = fc.oneof(
  fc.constantFrom('0', '1', '999999999999999999', '9007199254740993', '4294967296', '2147483648'),
  fc.stringMatching(/^[1-9][0-9]{0,17}$/),
);
const decimal = fc.tuple(whole, fc.option(digits(6))).map(([a, b]) => (b === null ? a : `${a}.${b}`));

/** By pattern, since no generator of texts knows what looking ahead means. */
const PATTERNS: Readonly<Record<string, Arbitrary<string>>> = {
  [INTEGER_PATTERN]: whole,
  [DECIMAL_PATTERN]: decimal,
  [POSITIVE_DECIMAL_PATTERN]: decimal.filter((text) => new RegExp(POSITIVE_DECIMAL_PATTERN).test(text)),
  [CURRENCY_PATTERN]: fc.stringMatching(/^[A-Z]{3}$/),
  [CODE_PATTERN]: fc.oneof(fc.constantFrom('AB', 'AP', 'RE', 'CA'), fc.stringMatching(/^[A-Z0-9]{1,8}$/)),
  [ORDER_NUMBER_PATTERN]: fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/),
};

function ruled({ pattern, ...rule }: Rule): Arbitrary<unknown> {
  if (pattern !== undefined) return PATTERNS[pattern] ?? fc.stringMatching(new RegExp(pattern));
  switch (rule.type) {
    case 'string': {
      const length = { minLength: rule.minLength ?? 0, maxLength: Math.min(rule.maxLength ?? 200, 200) };
      // Any characters; those of a few bytes; and long ones, for lengths of more than one byte.
      return fc.oneof(fc.string({ unit: 'binary', ...length }), fc.string({ unit: 'grapheme-ascii', ...length }));
    }
    case 'integer': {
      const { minimum: min = 0, maximum: max = 0 } = rule;
      return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, 63, 64, 8191, 8192, max));
    }
    case 'array':
      return fc.array(ruled(rule.items as Rule), { minLength: rule.minItems ?? 0, maxLength: 70, size: 'small' });
    case 'object':
      return objects(rule);
    default:
      throw new Error(`There is no generator of ${rule.type}.`);
  }
}

function objects({ properties = {}, required = [] }: Rule): Arbitrary<unknown> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, rule]) => [name, ruled(rule)]));
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

/** Documents that keep the contract's rules, with all that the formats could lose on their way. */
export function arbitraryDocument(contract: AnyContract): Arbitrary<Record<string, unknown>> {
  const documents = ruled(contract.jsonSchema as unknown as Rule) as Arbitrary<Record<string, unknown>>;
  if (!('then' in contract.jsonSchema)) return documents;
  // The one rule that looks at two members: an order's answer has lines with CA, and only then.
  return documents.map(({ lines, ...document }) => {
    if (lines !== undefined) return { ...document, responseCode: 'CA', lines };
    return document['responseCode'] === 'CA' ? { ...document, responseCode: 'AP' } : document;
  });
}
