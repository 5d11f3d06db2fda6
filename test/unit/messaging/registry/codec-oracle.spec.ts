import { Type } from 'avsc';
import fc, { type Arbitrary } from 'fast-check';
import { readFileSync } from 'node:fs';
import { parse, type Type as MessageType } from 'protobufjs';
import { despatchAdvice, recordNameOf, schemaFileOf } from '../../../../src/contracts';
import { resolveAvro } from '../../../../src/messaging/registry/avro-reader';
import { parseAvroSchema } from '../../../../src/messaging/registry/avro-schema';
import { ByteCursor } from '../../../../src/messaging/registry/byte-cursor';
import { parseMessage, planOf } from '../../../../src/messaging/registry/protobuf-message';
import { messageReader } from '../../../../src/messaging/registry/protobuf-reader';

/** A type of a writer's, with a value that it can hold: a text in Avro's JSON, or one of Protobuf's scalars. */
interface Sample {
  type: unknown;
  value: unknown;
}
const SEED = { seed: 4711, numRuns: 400 };
const textOf = (format: 'avro' | 'protobuf') => readFileSync(schemaFileOf(despatchAdvice, format), 'utf8');
const sample = (type: unknown, values: Arbitrary<unknown>): Arbitrary<Sample> =>
  values.map((value) => ({ type, value }));
const safe = fc.maxSafeInteger();

/** Value of an optional member: nothing, or a text. */
const maybe = fc.option(fc.string({ unit: 'binary', maxLength: 40 }), { nil: undefined });
const document = fc.record({
  orderNumber: fc.string({ maxLength: 40 }),
  despatchNumber: fc.string({ unit: 'binary', maxLength: 40 }),
  issuedAt: fc.constant('2026-02-04T08:00:00.000Z'),
  carrier: maybe,
  trackingNumber: maybe,
  grossWeightGrams: fc.option(safe, { nil: undefined }),
  lines: fc.array(fc.record({ lineNumber: fc.integer(), quantity: fc.string({ maxLength: 9 }) }), { minLength: 1 }),
  driver: fc.option(fc.record({ name: fc.string({ maxLength: 9 }), phone: maybe }), { nil: undefined }),
});

describe('Avro of writers that nobody knows', () => {
  const scalars = fc.oneof(
    sample('null', fc.constant(null)),
    sample('boolean', fc.boolean()),
    sample('int', fc.integer()),
    sample('long', safe),
    sample('float', fc.float({ noNaN: true })),
    sample('double', fc.double({ noNaN: true })),
    sample('string', fc.string({ unit: 'binary' })),
    sample(
      'bytes',
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    ),
    sample({ type: 'enum', name: '?', symbols: ['A', 'B', 'C'] }, fc.constantFrom('A', 'B', 'C')),
    sample({ type: 'fixed', name: '?', size: 3 }, fc.constant(Buffer.from('abc'))),
  );
  const { any } = fc.letrec<{ any: Sample }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalars,
      fc.tuple(tie('any'), fc.nat(3)).map(([{ type, value }, count]) => ({
        type: { type: 'array', items: type },
        value: Array.from({ length: count }, () => value),
      })),
      fc.tuple(tie('any'), fc.uniqueArray(fc.string(), { maxLength: 3 })).map(([{ type, value }, keys]) => ({
        type: { type: 'map', values: type },
        value: Object.fromEntries(keys.map((key) => [key, value])),
      })),
      fc.array(tie('any'), { maxLength: 4 }).map((members) => ({
        type: { type: 'record', name: '?', fields: members.map(({ type }, i) => ({ name: `f${i}`, type })) },
        value: Object.fromEntries(members.map(({ value }, i) => [`f${i}`, value])),
      })),
    ),
  }));

  /** Each named type needs a name of its own. */
  function named(type: unknown, names: { count: number }): unknown {
    if (Array.isArray(type)) return type.map((branch) => named(branch, names));
    if (typeof type !== 'object' || type === null) return type;
    const entries = Object.entries(type).map(([key, value]: [string, unknown]) => [
      key,
      key === 'symbols' ? value : named(value, names),
    ]);
    const copy = Object.fromEntries(entries) as Record<string, unknown>;
    return copy['name'] === '?' ? { ...copy, name: `N${names.count++}` } : copy;
  }

  const schema = JSON.parse(textOf('avro')) as { fields: { name: string; type: unknown; default?: unknown }[] };
  const ours = Type.forSchema(schema as never);
  const reader = parseAvroSchema(textOf('avro'));
  const withoutNulls = (value: object) =>
    JSON.parse(JSON.stringify(value, (_, v: unknown) => v ?? undefined)) as object;

  /** Our fields in another order, optional ones turned round, left out or always there, with others between them. */
  const writers = fc
    .tuple(
      fc.shuffledSubarray(schema.fields, { minLength: schema.fields.length }),
      fc.array(any, { maxLength: 4 }),
      fc.infiniteStream(fc.nat()),
    )
    .map(([fields, others, choices]) => {
      const pick = (count: number) => Number(choices.next().value) % count;
      const changed = fields.flatMap((field) => {
        if (!Array.isArray(field.type)) return [field];
        const form = pick(3);
        return form === 0
          ? []
          : [{ name: field.name, type: form === 1 ? (field.type as unknown[]).toReversed() : field.type }];
      });
      const values: Record<string, unknown> = {};
      others.forEach(({ type, value }, i) => {
        changed.splice(pick(changed.length + 1), 0, { name: `other${i}`, type });
        values[`other${i}`] = value;
      });
      return { text: JSON.stringify(named({ ...schema, fields: changed }, { count: 0 })), values };
    });

  it('is read as the library reads it', () => {
    fc.assert(
      fc.property(writers, document, ({ text, values }, advice) => {
        const writer = Type.forSchema(JSON.parse(text) as never);
        const bytes = writer.toBuffer({
          carrier: null,
          trackingNumber: null,
          grossWeightGrams: null,
          driver: null,
          ...values,
          ...withoutNulls(advice),
        });
        const expected = withoutNulls(ours.fromBuffer(bytes, ours.createResolver(writer)) as object) as Record<
          string,
          unknown
        >;
        if ('grossWeightGrams' in expected) expected['grossWeightGrams'] = String(expected['grossWeightGrams']);
        const cursor = new ByteCursor(bytes, 0);
        expect(withoutNulls(resolveAvro(parseAvroSchema(text), reader)(cursor) as object)).toEqual(expected);
        expect(cursor.pos).toBe(bytes.length);
      }),
      SEED,
    );
  });
});

describe('Protobuf of writers that nobody knows', () => {
  const text = textOf('protobuf');
  const name = recordNameOf(despatchAdvice);
  const ours = parse(text).root.lookupType(name);
  const read = messageReader(planOf(parseMessage(text, name)));
  const optional = ['carrier', 'trackingNumber', 'grossWeightGrams', 'driver'];
  const number = fc.oneof(fc.integer({ min: 9, max: 18_999 }), fc.integer({ min: 20_000, max: 536_870_911 }));
  const scalars = fc.oneof(
    ...['int32', 'sint32', 'sfixed32', 'enum'].map((type) => sample(type, fc.integer())),
    ...['int64', 'sint64', 'sfixed64'].map((type) => sample(type, safe)),
    ...['uint32', 'fixed32', 'uint64', 'fixed64'].map((type) => sample(type, fc.nat())),
    ...['float', 'double'].map((type) => sample(type, fc.double({ noNaN: true }))),
    sample('bool', fc.boolean()),
    sample('string', fc.string({ unit: 'binary' })),
    sample(
      'bytes',
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    ),
    sample('Other', fc.record({ a: fc.string(), b: fc.array(fc.nat()) })),
  );
  const others = fc.uniqueArray(fc.tuple(number, scalars, fc.boolean()), { selector: ([id]) => id, maxLength: 6 });

  function writerOf(fields: readonly (readonly [number, Sample, boolean])[]): { type: MessageType; values: object } {
    const lines = fields.map(([id, { type }, many]) => {
      const word = type === 'enum' ? 'Kind' : String(type);
      return `${many ? 'repeated' : 'optional'} ${word} other${id} = ${id};`;
    });
    const more = 'message Other { string a = 1; repeated uint32 b = 2; } enum Kind { ZERO = 0; }';
    const source = text.replace('message Line {', `${more}\n${lines.join('\n')}\n$&`);
    const values = fields.map(([id, { value }, many]) => [`other${id}`, many ? [value, value] : value]);
    return { type: parse(source).root.lookupType(name), values: Object.fromEntries(values) as object };
  }

  it('is read as the library reads it, also where two parts follow each other', () => {
    fc.assert(
      fc.property(others, document, fc.option(document), (fields, advice, second) => {
        const { type, values } = writerOf(fields);
        const parts = [{ ...values, ...advice }, ...(second ? [{ ...second, ...values }] : [])];
        const bytes = Buffer.concat(parts.map((part) => type.encode(type.fromObject(part)).finish()));
        const decoded = ours.decode(bytes);
        const expected = ours.toObject(decoded, { longs: String, defaults: true });
        for (const member of optional) if (!Object.hasOwn(decoded, member)) delete expected[member];
        expect(read(new ByteCursor(bytes, 0), bytes.length)).toEqual(expected);
      }),
      SEED,
    );
  });
});
