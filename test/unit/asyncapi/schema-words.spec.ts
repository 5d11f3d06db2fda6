import { toDraft07 } from '../../../src/asyncapi/draft07';
import { describeSchema } from '../../../src/asyncapi/schema-words';
import { despatchAdvice, type JsonSchema, orderResponse } from '../../../src/contracts';

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });

describe('a schema in words', () => {
  it('names members at any depth, with their rules', () => {
    const { fields } = describeSchema(despatchAdvice.jsonSchema);
    expect(fields.map(({ path }) => path)).toEqual([
      ...['orderNumber', 'despatchNumber', 'issuedAt', 'carrier', 'trackingNumber', 'grossWeightGrams', 'lines'],
      ...['lines[].lineNumber', 'lines[].quantity', 'driver', 'driver.name', 'driver.phone'],
    ]);
    const said = (path: string) => fields.find((field) => field.path === path);
    expect(said('carrier')).toMatchObject({ type: 'text', required: false, rules: ['1 to 100 characters'] });
    expect(said('lines')).toMatchObject({ type: 'list', required: true, rules: ['1 to 1000 entries'] });
    expect(said('lines[].lineNumber')).toMatchObject({ type: 'whole number', rules: ['at least 1', 'fits 32 bits'] });
    expect(said('lines[].quantity')?.rules).toEqual([
      'a decimal greater than 0, at most 18 digits before and 6 after the point',
    ]);
    expect(said('driver.phone')).toMatchObject({ required: false, rules: ['1 to 40 characters', 'personal data'] });
    expect(said('grossWeightGrams')?.rules.join()).toContain('a 64-bit integer in Avro and Protobuf');
  });

  it('says a condition between members', () => {
    expect(describeSchema(orderResponse.jsonSchema).conditions).toEqual([
      'Where `responseCode` is `CA`, `lines` is required. Otherwise `lines` is not allowed.',
    ]);
  });

  it.each<[string, JsonSchema, string[]]>([
    ['an unknown pattern', { type: 'string', pattern: '^x$' }, ['matches `^x$`']],
    ['a fixed value', { const: 7 }, ['always `7`']],
    ['a list of values', { type: 'string', enum: ['A', 'B'] }, ['one of `A`, `B`']],
    ['an upper bound alone', { type: 'integer', maximum: 9 }, ['at most 9']],
    ['both bounds', { type: 'integer', minimum: 1, maximum: 9 }, ['1 to 9']],
    [
      'entries that are no objects',
      { type: 'array', items: { type: 'string', maxLength: 3 } },
      ['each entry: text, at most 3 characters'],
    ],
  ])('says %s', (_, member, rules) => {
    expect(describeSchema(object({ a: member })).fields[0]?.rules).toEqual(rules);
  });

  it.each<[string, JsonSchema]>([
    ['a condition on a range', object({}, { if: { properties: { a: { minimum: 1 } } }, then: { required: ['b'] } })],
    [
      'a condition of which it can say a part',
      object({}, { if: { required: ['a'], properties: { a: { minimum: 1 } } }, then: { required: ['b'] } }),
    ],
    ['a condition without consequence', object({}, { if: { required: ['a'] } })],
    ['a member that is never there', object({ a: false })],
  ])('refuses %s rather than leave it out', (_, schema) => {
    expect(() => describeSchema(schema)).toThrow("has no form in a partner's documentation");
  });
});

describe('a schema as draft-07', () => {
  it('differs in the name of its draft alone', () => {
    const { $schema, ...rest } = toDraft07(orderResponse.jsonSchema);
    expect($schema).toBe('http://json-schema.org/draft-07/schema#');
    expect({ ...rest, $schema: orderResponse.jsonSchema['$schema'] }).toEqual(orderResponse.jsonSchema);
  });

  it.each<[string, JsonSchema]>([
    ['$defs', { $defs: {} }],
    ['prefixItems', object({ a: { type: 'array', prefixItems: [] } })],
    ['dependentRequired', object({}, { then: { dependentRequired: {} } })],
    ['unevaluatedProperties', object({ a: object({}, { unevaluatedProperties: false }) })],
  ])('refuses %s, which draft-07 does not know', (keyword, schema) => {
    expect(() => toDraft07(schema)).toThrow(`The keyword "${keyword}"`);
  });
});
