import { readFileSync } from 'node:fs';
import { orderRequest, schemaFileOf, subjectFor } from '../../contracts';
import type { SchemaRegistry, SchemaText } from '../../messaging/registry';
import type { Party } from '../message';
import type { Written } from '../company/record-writer';

/** An optional member that no version of the order has. */
const FIELD = 'certificationNote';
const NOTE = 'A field that a later version may have.';
/** Far above the numbers of the document's own fields; 19000 to 19999 are Protobuf's. */
const PROTOBUF_NUMBER = 1000;

/**
 * The schema of the order as a later version would have it, for Avro, whose readers must find it in the registry; the others need none.
 * Whoever certifies publishes it (it is judged as every version is), once for a topic.
 */
export function laterOrderSchema(topic: string): { subject: string; schema: SchemaText } {
  const schema = JSON.parse(readFileSync(schemaFileOf(orderRequest, 'avro'), 'utf8')) as { fields: unknown[] };
  const doc = 'Of the certification, which tries whether a partner reads a later version.';
  schema.fields.push({ name: FIELD, doc, type: ['null', 'string'], default: null });
  return {
    subject: subjectFor(orderRequest, topic),
    schema: { format: 'avro', text: JSON.stringify(schema, null, 2), references: [] },
  };
}

/** The order as a later version of its contract would be written: with one optional field more. Undefined: the registry lacks its schema. */
export async function withUnknownField(
  record: Written,
  { format }: Party,
  registry: SchemaRegistry | undefined,
): Promise<Written | undefined> {
  const { value } = record;
  switch (format) {
    case 'json':
      return { ...record, value: withMember(value) };
    case 'json-schema':
      return { ...record, value: Buffer.concat([value.subarray(0, 5), withMember(value.subarray(5))]) };
    case 'protobuf': {
      const tag = varint(BigInt(PROTOBUF_NUMBER * 8 + 2));
      return { ...record, value: Buffer.concat([value, tag, lengthAnd(NOTE, (bytes) => varint(BigInt(bytes)))]) };
    }
    case 'avro': {
      const { subject, schema } = laterOrderSchema(record.topic);
      const registered = await registry?.lookup(subject, schema);
      return registered && laterAvro(record, registered.id);
    }
  }
}

function withMember(json: Buffer): Buffer {
  const document = JSON.parse(json.toString()) as Record<string, unknown>;
  return Buffer.from(JSON.stringify({ ...document, [FIELD]: NOTE }));
}

/** A record is its fields one after the other, so what a later version adds at its end comes last. */
function laterAvro(record: Written, schemaId: number): Written {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(schemaId, 1);
  const second = Buffer.from([2]);
  const note = lengthAnd(NOTE, (bytes) => varint(BigInt(bytes) * 2n));
  const headers = Object.fromEntries(Object.entries(record.headers).filter(([name]) => name !== 'ce_dataschema'));
  return { ...record, headers, value: Buffer.concat([frame, record.value.subarray(5), second, note]) };
}

function lengthAnd(text: string, length: (bytes: number) => Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([length(bytes.length), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
