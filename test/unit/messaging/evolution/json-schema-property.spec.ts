import { Ajv2020 } from 'ajv/dist/2020';
import fc from 'fast-check';
import { judgeSchemas } from '../../../../src/messaging/evolution';

type Json = Record<string, unknown>;

const NAMES = ['a', 'b', 'c'];
const value = fc.constantFrom<unknown>('', 'x', 'xx', 'xxx', 0, 1, 2, 1.5, true, null);
/** There in one case of so many. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>, oneIn = 4): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const scalar = fc.record({
  type: maybe(fc.constantFrom<unknown>('string', 'integer', 'number', ['string', 'null'], ['null', 'string'])),
  minLength: maybe(fc.constantFrom(0, 1, 2)),
  maxLength: maybe(fc.constantFrom(1, 2)),
  minimum: maybe(fc.constantFrom(0, 1)),
  exclusiveMaximum: maybe(fc.constantFrom(1, 2)),
  pattern: maybe(fc.constantFrom('^x', 'x$')),
  enum: maybe(fc.uniqueArray(fc.constantFrom('x', 'xx', 1), { minLength: 1 })),
  const: maybe(fc.constantFrom('x', 1)),
  description: maybe(fc.constantFrom('said', 'said otherwise')),
});

const objectOf = (member: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom(...NAMES), member),
    required: maybe(fc.uniqueArray(fc.constantFrom(...NAMES))),
    additionalProperties: maybe(fc.constantFrom<unknown>(false, true, { type: 'string' })),
    patternProperties: maybe(fc.constant({ '^a': { type: 'string' } }), 20),
    maxProperties: maybe(fc.constant(2), 20),
    propertyNames: maybe(fc.constant({ pattern: '^[ab]' }), 20),
    not: maybe(
      fc.constantFrom({ required: ['a'] }, { properties: { l: { items: { required: ['b'] } } }, required: ['l'] }),
      10,
    ),
    if: maybe(fc.constant({ required: ['b'] }), 10),
    then: maybe(fc.constant({ properties: { a: false } }), 10),
    dependentRequired: maybe(fc.constant({ a: ['c'] }), 20),
    $comment: maybe(fc.constantFrom('one', 'two')),
  });

const list = (items: fc.Arbitrary<unknown>) =>
  fc.record({
    type: fc.constant('array'),
    items,
    minItems: maybe(fc.constantFrom(0, 1)),
    maxItems: maybe(fc.constant(1)),
  });
const schema = objectOf(scalar).chain((root) =>
  maybe(list(objectOf(scalar)), 2).map((lines) => {
    const { properties, ...rest } = root as Json & { properties: Json };
    return withoutUndefined({ ...rest, properties: lines ? { ...properties, l: lines } : properties }) as Json;
  }),
);

/** The same schema with one member, keyword or neither left out, at the root or in its list. */
const changed = (one: Json): fc.Arbitrary<Json> =>
  fc.tuple(schema, fc.nat(), fc.boolean(), fc.boolean()).map(([other, n, members, back]) => {
    const text = JSON.stringify(one);
    const target = JSON.parse(text) as Json;
    const source = back ? other : {};
    const [mine, theirs] = members
      ? [target['properties'] as Json, (source['properties'] ?? {}) as Json]
      : [target, source];
    const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((key) => key !== 'properties');
    const key = keys[n % Math.max(1, keys.length)];
    if (key === undefined) return target;
    if (key in theirs) mine[key] = theirs[key];
    else delete mine[key];
    return target;
  });

function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

const flat = fc.dictionary(fc.constantFrom(...NAMES, 'd'), value);
/** The same documents for every pair. */
const DOCUMENTS = fc.sample(
  fc
    .tuple(flat, maybe(fc.array(flat, { maxLength: 2 }), 2))
    .map(([members, lines]) => (lines ? { ...members, l: lines } : members)),
  { numRuns: 400, seed: 1 },
);

/** Does it hold only members that the schema describes? Nobody sends others: what the judge takes on trust. */
function isKnown(schema: unknown, document: unknown): boolean {
  const { properties = {}, items } = (schema ?? {}) as { properties?: Json; items?: unknown };
  if (Array.isArray(document)) return document.every((item) => isKnown(items, item));
  if (typeof document !== 'object' || document === null) return true;
  return Object.entries(document).every(([name, inner]) => name in properties && isKnown(properties[name], inner));
}

const ajv = new Ajv2020({ strict: false, validateSchema: false });
const compile = (schema: Json) => ajv.compile(schema);

describe('two JSON Schemas that the judge lets pass', () => {
  it("take each other's documents, whatever was changed", () => {
    let passed = 0;
    let shown = 0;
    fc.assert(
      fc.property(
        schema.chain((one) => fc.tuple(fc.constant(one), changed(one))),
        ([older, newer]) => {
          if (judgeSchemas('json-schema', JSON.stringify(older), JSON.stringify(newer)).length > 0) return;
          passed += 1;
          const [then, now] = [compile(older), compile(newer)];
          for (const document of DOCUMENTS) {
            const [was, is] = [isKnown(older, document) && then(document), isKnown(newer, document) && now(document)];
            if (was) shown += 1;
            if (was && !now(document)) throw new Error(`new refuses ${JSON.stringify(document)}`);
            if (is && !then(document)) throw new Error(`old refuses ${JSON.stringify(document)}`);
          }
        },
      ),
      { numRuns: 1000, seed: 4711 },
    );
    // Enough of both: pairs that pass, and documents that are valid.
    expect(passed).toBeGreaterThan(100);
    expect(shown).toBeGreaterThan(500);
  });
});
