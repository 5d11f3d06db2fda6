import { judgeSchemas } from '../../../../src/messaging/evolution';

type Json = Record<string, unknown>;

const text = (schema: unknown) => JSON.stringify(schema);
const judged = (older: unknown, newer: unknown) =>
  judgeSchemas('json-schema', text(older), text(newer)).map(({ place, rule }) => `${place} ${rule}`);

const BASE = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['one'],
  properties: {
    one: { type: 'string', minLength: 1, maxLength: 9, pattern: '^x' },
    two: { type: 'integer', minimum: 1, maximum: 5 },
    lines: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    },
  },
};
const withOne = (change: Json) => ({
  ...BASE,
  properties: { ...BASE.properties, one: { ...BASE.properties.one, ...change } },
});
const withTwo = (change: Json) => ({
  ...BASE,
  properties: { ...BASE.properties, two: { ...BASE.properties.two, ...change } },
});
const without = (name: keyof typeof BASE.properties) => {
  const { [name]: _, ...properties } = BASE.properties;
  return { ...BASE, properties };
};
const withMember = (name: string, schema: unknown, base: Json & { properties: Json } = BASE) => ({
  ...base,
  properties: { ...base.properties, [name]: schema },
});
const closed = (base: Json & { properties: Json } = BASE) => ({ ...base, additionalProperties: false });
const inLines = (change: Json) => ({
  ...BASE,
  properties: {
    ...BASE.properties,
    lines: { ...BASE.properties.lines, items: { ...BASE.properties.lines.items, ...change } },
  },
});

describe('JSON Schema', () => {
  it.each([
    ['an optional member more', BASE, withMember('three', { type: 'string' })],
    ['an optional member less', BASE, without('two')],
    [
      'an optional member more in a list',
      BASE,
      inLines({ properties: { n: { type: 'integer' }, m: { type: 'string' } } }),
    ],
    [
      'words for people',
      BASE,
      { ...withOne({ description: 'said', title: 'One', examples: ['x'], $comment: 'c' }), title: 'T', $id: 'urn:x' },
    ],
    [
      'the order of members',
      BASE,
      { required: ['one'], properties: BASE.properties, type: 'object', $schema: BASE.$schema },
    ],
    ['a type in a list of its own', BASE, withOne({ type: ['string'] })],
    ['bounds that say nothing', { type: 'string' }, { type: 'string', minLength: 0 }],
    [
      'what is not read as a rule: a member called "title"',
      withMember('title', { type: 'string' }),
      withMember('title', { type: 'string', title: 'Title' }),
    ],
    [
      'the same conditions, said to people in other words',
      { ...BASE, if: { properties: { one: { const: 'x', title: 'a' } } } },
      { ...BASE, if: { properties: { one: { title: 'b', const: 'x' } } } },
    ],
    [
      'a member more beside conditions that do not speak of it',
      { ...BASE, then: { required: ['two'] } },
      withMember('three', true, { ...BASE, then: { required: ['two'] } }),
    ],
    [
      'a member more beside patterns of names and conditions that speak of it, as they stay what they are',
      { ...BASE, patternProperties: { '^t': { type: 'string' } }, maxProperties: 3, not: { required: ['three'] } },
      {
        ...withMember('three', {}),
        patternProperties: { '^t': { type: 'string' } },
        maxProperties: 3,
        not: { required: ['three'] },
      },
    ],
    ['a schema that takes everything', { properties: { a: true } }, { properties: { a: {} } }],
  ])('takes %s', (_, older, newer) => {
    expect(judged(older, newer)).toEqual([]);
    expect(judged(newer, older)).toEqual([]);
  });

  it.each<[string, unknown, unknown, string[]]>([
    ['a member that becomes required', BASE, { ...BASE, required: ['one', 'two'] }, ['two field-added-required']],
    [
      'a required member more',
      BASE,
      { ...withMember('three', {}), required: ['one', 'three'] },
      ['three field-added-required'],
    ],
    ['a member that is required no more', BASE, { ...BASE, required: [] }, ['one field-removed-required']],
    ['a required member less', BASE, { ...without('one'), required: [] }, ['one field-removed-required']],
    [
      'a required member of a list less',
      BASE,
      inLines({ required: [], properties: {} }),
      ['lines[].n field-removed-required'],
    ],
    ['another type', BASE, withTwo({ type: 'number' }), ['two type-changed']],
    ['a type more', BASE, withTwo({ type: ['integer', 'null'] }), ['two type-changed']],
    ['a higher minimum', BASE, withTwo({ minimum: 2 }), ['two bound-narrowed']],
    ['a lower minimum', BASE, withTwo({ minimum: 0 }), ['two bound-widened']],
    ['no minimum', BASE, withTwo({ minimum: undefined }), ['two bound-widened']],
    ['a lower maximum', BASE, withTwo({ maximum: 4 }), ['two bound-narrowed']],
    ['an exclusive maximum', BASE, withTwo({ exclusiveMaximum: 5 }), ['two bound-narrowed']],
    ['an exclusive maximum of an old draft', BASE, withTwo({ exclusiveMaximum: true }), ['two not-comparable']],
    ['a shorter text', BASE, withOne({ maxLength: 8 }), ['one bound-narrowed']],
    ['a longer text', BASE, withOne({ maxLength: undefined }), ['one bound-widened']],
    [
      'more items at least',
      BASE,
      { ...BASE, properties: { ...BASE.properties, lines: { ...BASE.properties.lines, minItems: 2 } } },
      ['lines bound-narrowed'],
    ],
    ['another pattern', BASE, withOne({ pattern: '^xx' }), ['one pattern-changed']],
    ['no pattern', BASE, withOne({ pattern: undefined }), ['one pattern-changed']],
    ['a format', BASE, withOne({ format: 'date' }), ['one value-changed']],
    ['a constant', withOne({ const: 'xa' }), withOne({ const: 'xb' }), ['one value-changed']],
    ['items that differ', { type: 'array' }, { type: 'array', uniqueItems: true }, [' value-changed']],
    ['a value of an enum more', withOne({ enum: ['x'] }), withOne({ enum: ['x', 'xy'] }), ['one enum-value-added']],
    ['a value of an enum less', withOne({ enum: ['x', 'xy'] }), withOne({ enum: ['xy'] }), ['one enum-value-removed']],
    ['an enum where none was', BASE, withOne({ enum: ['x'] }), ['one value-changed']],
    ['items of another type', { items: { type: 'string' } }, { items: { type: 'integer' } }, ['[] type-changed']],
    ['rules for items', { type: 'array' }, { type: 'array', items: { type: 'string' } }, ['[] type-changed']],
    ['items by place', { items: [{}, { type: 'string' }] }, { items: [{ type: 'string' }] }, [' not-comparable']],
    [
      'items that say nothing, beside a rule for items that nothing was said of',
      { type: 'array', unevaluatedItems: false },
      { type: 'array', unevaluatedItems: false, items: {} },
      [' not-comparable'],
    ],
    ['another dialect', BASE, { ...BASE, $schema: 'http://json-schema.org/draft-07/schema#' }, [' dialect-changed']],
    ['content that closes', BASE, closed(), [' content-closed']],
    ['content that opens', closed(), BASE, [' content-opened']],
    ['a member more where content is closed', closed(), closed(withMember('three', {})), ['three field-added-closed']],
    ['a member less where content is closed', closed(), closed(without('two')), ['two field-removed-closed']],
    [
      'rules for members without a name',
      BASE,
      { ...BASE, additionalProperties: { type: 'string' } },
      [' not-comparable'],
    ],
    [
      'a member more where members without a name have rules',
      { ...BASE, additionalProperties: { type: 'string' } },
      { ...withMember('three', { type: 'string' }), additionalProperties: { type: 'string' } },
      ['three not-comparable'],
    ],
    ['content that is closed in another way', closed(), { ...BASE, unevaluatedProperties: false }, [' not-comparable']],
    [
      'a condition',
      BASE,
      { ...BASE, if: { required: ['two'] }, then: { required: ['lines'] } },
      [' not-comparable', ' not-comparable'],
    ],
    [
      'a definition',
      { ...BASE, $defs: { a: { type: 'string' } } },
      { ...BASE, $defs: { a: { type: 'integer' } } },
      [' not-comparable'],
    ],
    ['a keyword that nobody knows', BASE, { ...BASE, 'x-money': true }, [' not-comparable']],
    [
      'a member that is forbidden now',
      BASE,
      { ...BASE, properties: { ...BASE.properties, two: false } },
      ['two not-comparable'],
    ],
    ['an id further down', withOne({ $id: 'urn:a' }), withOne({ $id: 'urn:b' }), ['one not-comparable']],
    [
      'anything at all where a reference leaves its own definitions',
      withMember('ref', { $ref: '#/properties/lines/items' }),
      withMember('three', {}, withMember('ref', { $ref: '#/properties/lines/items' })),
      [' not-comparable'],
    ],
    [
      'a member called as what every object has',
      BASE,
      { ...withMember('constructor', {}), required: ['one', 'constructor'] },
      ['constructor field-added-required'],
    ],
  ])('refuses %s', (_, older, newer, expected) => {
    expect(judged(older, newer)).toEqual(expected);
  });

  it.each([
    ['allOf'],
    ['anyOf'],
    ['oneOf'],
    ['not'],
    ['if'],
    ['then'],
    ['else'],
    ['contains'],
    ['prefixItems'],
    ['propertyNames'],
    ['dependentRequired'],
    ['dependentSchemas'],
    ['$dynamicRef'],
    ['contentMediaType'],
    ['minContains'],
  ])('never passes over a changed %s', (keyword) => {
    const [a, b] = [{ [keyword]: [{ type: 'string' }] }, { [keyword]: [{ type: 'integer' }] }];
    expect(judged({ ...BASE, ...a }, { ...BASE, ...b })).toContain(' not-comparable');
    expect(judged(BASE, { ...BASE, ...b })).toContain(' not-comparable');
  });

  it('never runs a pattern', () => {
    const hostile = { patternProperties: { '^(a+)+$': {} }, properties: { one: { pattern: '^(a+)+$' } } };
    expect(judged({ properties: {} }, hostile)).toContain(' not-comparable');
  });

  it('sees a member that is called __proto__', () => {
    const [older, newer] = ['string', 'integer'].map((type) => `{"properties":{"__proto__":{"type":"${type}"}}}`);
    expect(judgeSchemas('json-schema', older ?? '', newer ?? '').map(({ rule }) => rule)).toEqual(['type-changed']);
  });

  it.each([['{"type":{"toString":1}}'], ['{"required":[{"toString":1}]}']])(
    'compares what has no text: %s',
    (older) => {
      expect(judgeSchemas('json-schema', older, '{}')).not.toEqual([]);
    },
  );

  it.each([
    ['no JSON', '{'],
    ['nested beyond measure', '['.repeat(100_000)],
  ])('calls unreadable what is %s', (_, schema) => {
    expect(judgeSchemas('json-schema', schema, '{}').map(({ rule }) => rule)).toEqual(['unreadable']);
  });
});
