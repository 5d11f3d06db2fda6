import { Type } from 'avsc';
import { readFileSync } from 'node:fs';
import { parse } from 'protobufjs';
import {
  type AnyContract,
  despatchAdvice,
  orderResponse,
  recordNameOf,
  type RegisteredFormat,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../../../../src/contracts';
import { createCodec } from '../../../../src/messaging/registry';
import { resolveAvro } from '../../../../src/messaging/registry/avro-reader';
import { parseAvroSchema } from '../../../../src/messaging/registry/avro-schema';
import { ByteCursor } from '../../../../src/messaging/registry/byte-cursor';
import { parseMessage, planOf } from '../../../../src/messaging/registry/protobuf-message';
import { messageReader } from '../../../../src/messaging/registry/protobuf-reader';
import { MemoryRegistry } from './memory-registry';

type Document = Record<string, unknown>;

interface AvroRecord {
  fields: { name: string; type: unknown; default?: unknown; aliases?: string[] }[];
}

/** What a later or an earlier version of a document says. */
interface Version {
  without?: string;
  optional?: string;
  withDefault?: string;
}

const VERSIONS: Readonly<Record<string, Version>> = {
  'one behind': { without: 'removed' },
  ours: {},
  'one ahead': { optional: 'note' },
  'two ahead': { optional: 'note', withDefault: 'priority' },
};

/** An optional member of each document that a version behind does not have yet. */
const REMOVED: Readonly<Record<string, string>> = { 'order-response': 'reason', 'despatch-advice': 'carrier' };
const DOCUMENTS: readonly (readonly [string, AnyContract, Document])[] = [
  ['order-response', orderResponse, orderResponse.examples[1] as unknown as Document],
  ['despatch-advice', despatchAdvice, despatchAdvice.examples[0] as unknown as Document],
];

const textOf = (contract: AnyContract, format: RegisteredFormat) =>
  readFileSync(schemaFileOf(contract, format), 'utf8');

function avroText(contract: AnyContract, { without, optional, withDefault }: Version): string {
  const schema = JSON.parse(textOf(contract, 'avro')) as AvroRecord;
  if (without) schema.fields = schema.fields.filter(({ name }) => name !== REMOVED[contract.name]);
  if (optional) schema.fields.splice(1, 0, { name: optional, type: ['null', 'string'], default: null });
  if (withDefault) schema.fields.push({ name: withDefault, type: 'string', default: 'normal' });
  return JSON.stringify(schema);
}

function protobufText(contract: AnyContract, { without, optional, withDefault }: Version): string {
  const added = [optional && `optional string ${optional} = 20;`, withDefault && `string ${withDefault} = 21;`];
  return textOf(contract, 'protobuf')
    .replace(without ? new RegExp(`optional string ${REMOVED[contract.name]} = \\d+;`) : '', '')
    .replace(/^message \w+ \{/m, (line) => `${line}\n${added.filter(Boolean).join('\n')}`);
}

/** What a writer of that version has to say. */
function documentOf(contract: AnyContract, example: Document, { without, optional, withDefault }: Version): Document {
  const { [without ? (REMOVED[contract.name] as string) : '']: _left, ...rest } = example;
  return { ...rest, ...(optional && { [optional]: 'new' }), ...(withDefault && { [withDefault]: 'high' }) };
}

/** Written by the libraries, with the writer's schema. */
function write(format: RegisteredFormat, contract: AnyContract, version: Version, document: Document): Buffer {
  if (format === 'json-schema') return Buffer.from(JSON.stringify(document));
  if (format === 'avro') {
    const grams = document['grossWeightGrams'];
    const value = grams === undefined ? document : { ...document, grossWeightGrams: Number(grams) };
    return Type.forSchema(JSON.parse(avroText(contract, version)) as never).toBuffer(value);
  }
  const type = parse(protobufText(contract, version)).root.lookupType(recordNameOf(contract));
  return Buffer.from(type.encode(document).finish());
}

function read(
  format: RegisteredFormat,
  contract: AnyContract,
  writer: Version,
  reader: Version,
  bytes: Buffer,
): unknown {
  const cursor = new ByteCursor(bytes, 0);
  if (format === 'json-schema') return JSON.parse(bytes.toString());
  if (format === 'avro') {
    return resolveAvro(
      parseAvroSchema(avroText(contract, writer)),
      parseAvroSchema(avroText(contract, reader)),
    )(cursor);
  }
  const message = parseMessage(protobufText(contract, reader), recordNameOf(contract));
  return messageReader(planOf(message))(cursor, bytes.length);
}

/** What a reader of that version gets to know of it; JSON hands on what it does not know. */
function expected(format: RegisteredFormat, contract: AnyContract, reader: Version, written: Document): Document {
  if (format === 'json-schema') return written;
  const known = { ...written };
  if (reader.without) delete known[REMOVED[contract.name] as string];
  if (!reader.optional) delete known['note'];
  if (!reader.withDefault) delete known['priority'];
  else known['priority'] ??= format === 'avro' ? 'normal' : '';
  return known;
}

describe.each(DOCUMENTS)('%s', (_name, contract, example) => {
  const pairs = Object.entries(VERSIONS).flatMap(([w, writer]) =>
    Object.entries(VERSIONS).map(([r, reader]) => [w, r, writer, reader] as const),
  );

  describe.each(['avro', 'protobuf', 'json-schema'] as const)('in %s', (format) => {
    it.each(pairs)('written %s is read by %s', (_w, _r, writer, reader) => {
      const document = documentOf(contract, example, writer);
      const bytes = write(format, contract, writer, document);
      expect(read(format, contract, writer, reader, bytes)).toEqual(expected(format, contract, reader, document));
    });

    it.each(Object.entries(VERSIONS))('written %s, it is read by our codec and its rules', async (_w, writer) => {
      const topic = topicFor(contract, 'acme');
      const registry = new MemoryRegistry();
      const texts = { avro: avroText, protobuf: protobufText, 'json-schema': () => '{}' };
      const { id } = registry.put(subjectFor(contract, topic), format, texts[format](contract, writer));
      const document = documentOf(contract, example, writer);
      const frame = Buffer.from([0, 0, 0, 0, id, ...(format === 'protobuf' ? [0] : [])]);
      const value = Buffer.concat([frame, write(format, contract, writer, document)]);
      expect(await createCodec(registry).decode(contract, { topic, format }, { value, headers: {} })).toEqual({
        ok: true,
        value: expected(format, contract, {}, document),
        schemaId: id,
      });
    });
  });
});

describe('in Avro', () => {
  const schema = (name: string, fields: AvroRecord['fields'], more = {}) =>
    JSON.stringify({ type: 'record', name, fields, ...more });
  const resolved = (writer: string, reader: string, value: unknown) =>
    resolveAvro(
      parseAvroSchema(writer),
      parseAvroSchema(reader),
    )(new ByteCursor(Type.forSchema(JSON.parse(writer) as never).toBuffer(value), 0));
  const one = (type: unknown, more = {}) => [{ name: 'a', type, ...more }];

  it('a renamed field is found under the alias that ours has, and under its new name', () => {
    const reader = schema('R', [{ name: 'b', type: 'string', aliases: ['a'] }]);
    expect(resolved(schema('R', one('string')), reader, { a: 'x' })).toEqual({ b: 'x' });
    expect(resolved(schema('R', [{ name: 'b', type: 'string' }]), reader, { b: 'x' })).toEqual({ b: 'x' });
    const both = schema('R', [
      { name: 'a', type: 'string' },
      { name: 'b', type: 'string' },
    ]);
    expect(resolved(both, reader, { a: 'x', b: 'y' })).toEqual({ b: 'y' });
  });

  it('a renamed record is found under the full name that ours has as alias', () => {
    const reader = schema('New', one('string'), { namespace: 'n', aliases: ['Old', 'm.Other'] });
    for (const name of ['n.Old', 'm.Other', 'elsewhere.New']) {
      expect(resolved(schema(name, one('string')), reader, { a: 'x' })).toEqual({ a: 'x' });
    }
    expect(() => resolved(schema('m.Old', one('string')), reader, { a: 'x' })).toThrow(/"m.Old" can't be read/);
  });

  it.each([
    ['int', 'long', 5, '5'],
    ['long', 'long', -4503599627370495, '-4503599627370495'],
    ['bytes', 'string', Buffer.from('é'), 'é'],
    ['boolean', 'boolean', true, true],
    ['int', ['null', 'long'], -1, '-1'],
    [['null', 'int'], ['null', 'long'], null, undefined],
    [['string', 'null'], ['null', 'string'], 'x', 'x'],
  ] as const)('%j is read as %j', (writer, reader, value, result) => {
    expect(resolved(schema('R', one(writer)), schema('R', one(reader)), { a: value })).toEqual({ a: result });
  });

  it.each([
    '9223372036854775807',
    '-9223372036854775808',
    '9007199254740993',
    '-9007199254740991',
    '-4503599627370497',
    '0',
    '-1',
  ])('a long is exact: %s', (text) => {
    const value = BigInt(text);
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    const bytes: number[] = [];
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    const type = parseAvroSchema('"long"');
    expect(resolveAvro(type, type)(new ByteCursor(Buffer.from([...bytes, Number(rest)]), 0))).toBe(text);
  });

  it.each([
    ['long', 'int'],
    ['string', 'long'],
    ['double', 'long'],
    ['null', 'string'],
    ['int', 'boolean'],
  ])('%s is not read as %s', (writer, reader) => {
    const resolve = () =>
      resolveAvro(parseAvroSchema(schema('R', one(writer))), parseAvroSchema(schema('R', one(reader))));
    expect(resolve).toThrow(`a: ${writer} can't be read as ${reader}`);
  });

  it('a default of ours stands for what the writer does not have', () => {
    const reader = schema('R', [
      { name: 'a', type: 'string' },
      { name: 'n', type: 'long', default: 7 },
      { name: 's', type: ['string', 'null'], default: 'd' },
      { name: 'z', type: ['null', 'string'], default: null },
    ]);
    expect(resolved(schema('R', one('string')), reader, { a: 'x' })).toEqual({ a: 'x', n: '7', s: 'd' });
  });
});
