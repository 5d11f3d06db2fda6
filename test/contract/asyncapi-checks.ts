import { Ajv } from 'ajv';
import { Type } from 'avsc';
import { isDeepStrictEqual } from 'node:util';
import { type Namespace, parse } from 'protobufjs';
import { PERSONAL_DATA } from '../../src/contracts';
import type { AsyncApi, Documents, JsonObject, MessageObject, Operation } from './asyncapi-fixtures';

/** What must never stand in a partner's documents: our dead letter topics, our addresses, credentials, places on a disk. */
const INTERNAL = /-dlt|kafka_dlt|parley-replay|localhost|127\.0\.0\.1|postgres(ql)?:|\/\/[^/\s]*@|password|src\//i;

/** Everything wrong with a pair of documents that a parser of AsyncAPI doesn't look at; empty when all is well. */
export function faultsOf(documents: Documents): string[] {
  const both = [documents.parley, documents.partner];
  return [
    ...both.flatMap(referenceFaults),
    ...both.flatMap(replyFaults),
    // The partner's messages are the same, which is checked below.
    ...Object.entries(documents.parley.components.messages).flatMap(([id, message]) =>
      messageFaults(id, message, documents.parley),
    ),
    ...both.flatMap((document) => {
      const [found] = INTERNAL.exec(JSON.stringify(document)) ?? [];
      return found === undefined ? [] : [`internal: ${found}`];
    }),
    ...mirrorFaults(documents),
  ];
}

function resolve(document: AsyncApi, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/');
  return steps.reduce<unknown>((value, step) => (value as JsonObject | undefined)?.[step], document);
}

function referenceFaults(document: AsyncApi): string[] {
  const faults: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [member, child] of Object.entries(value)) {
      if (member === '$ref' && resolve(document, String(child)) === undefined)
        faults.push(`dangling: ${String(child)}`);
      walk(child);
    }
  };
  walk(document);
  return faults;
}

function replyFaults(document: AsyncApi): string[] {
  return Object.entries(document.operations).flatMap(([id, { reply }]) =>
    reply && 'address' in reply ? [`reply address beside a channel: ${id}`] : [],
  );
}

const ajv = new Ajv({
  strict: true,
  strictRequired: false,
  keywords: [PERSONAL_DATA],
  formats: { 'uri-reference': true, 'date-time': true },
});

function messageFaults(id: string, message: MessageObject, document: AsyncApi): string[] {
  const faults: string[] = [];
  const location = message.correlationId && resolve(document, message.correlationId.$ref);
  const header = (location as { location: string } | undefined)?.location.replace('$message.header#/', '');
  if (header !== undefined && !(header in message.headers.properties)) faults.push(`no header ${header}: ${id}`);
  try {
    const roundTrip = payloadOf(message);
    const rules = ajv.compile(message['x-parley-rules'] ?? (message.payload.schema as JsonObject));
    const headers = ajv.compile(message.headers);
    const key = ajv.compile(message.bindings.kafka.key);
    for (const example of message.examples) {
      if (!rules(example.payload))
        faults.push(`example breaks the rules: ${example.name} ${ajv.errorsText(rules.errors)}`);
      if (!headers(example.headers)) faults.push(`example's headers: ${example.name}`);
      if (!key(example.headers['ce_subject'])) faults.push(`example's key: ${example.name}`);
      if (!isDeepStrictEqual(roundTrip(example.payload), example.payload))
        faults.push(`example changes: ${example.name}`);
    }
  } catch (error) {
    faults.push(`schema: ${id} ${(error as Error).message}`);
  }
  return faults;
}

/** Compiles the schema; what comes out encodes a document and decodes it again. Throws where the schema isn't one. */
function payloadOf({ payload: { schemaFormat, schema } }: MessageObject): (value: JsonObject) => unknown {
  if (schemaFormat.startsWith('application/vnd.apache.avro')) {
    const type = Type.forSchema(schema as Parameters<typeof Type.forSchema>[0], { wrapUnions: false });
    return (value) => fromAvro(type.fromBuffer(type.toBuffer(toAvro(value, schema))), schema);
  }
  if (schemaFormat.startsWith('application/vnd.google.protobuf')) {
    const { root, package: name = '' } = parse(schema as string);
    root.resolveAll();
    // The document's record is the first message of its file.
    const [first] = (root.lookup(name) as Namespace).nestedArray;
    const type = root.lookupType(`${name}.${first?.name}`);
    return (value) => type.toObject(type.decode(type.encode(type.fromObject(value)).finish()), { longs: String });
  }
  return (value) => JSON.parse(JSON.stringify(value)) as unknown;
}

/** 64-bit integers are text here and numbers there; a member that is missing here is null there. */
function toAvro(value: unknown, schema: unknown): unknown {
  if (Array.isArray(schema))
    return value === undefined
      ? null
      : toAvro(
          value,
          schema.find((branch) => branch !== 'null'),
        );
  if (schema === 'long') return Number(value);
  const { type, fields, items } = schema as {
    type?: unknown;
    fields?: { name: string; type: unknown }[];
    items?: unknown;
  };
  if (fields) return Object.fromEntries(fields.map((f) => [f.name, toAvro((value as JsonObject)[f.name], f.type)]));
  if (items !== undefined) return (value as unknown[]).map((each) => toAvro(each, items));
  return type === undefined ? value : toAvro(value, type);
}

function fromAvro(value: unknown, schema: unknown): unknown {
  if (Array.isArray(schema))
    return value === null
      ? undefined
      : fromAvro(
          value,
          schema.find((branch) => branch !== 'null'),
        );
  if (schema === 'long') return String(value);
  const { type, fields, items } = schema as {
    type?: unknown;
    fields?: { name: string; type: unknown }[];
    items?: unknown;
  };
  if (fields) {
    const members = fields.map((f) => [f.name, fromAvro((value as JsonObject)[f.name], f.type)] as const);
    return Object.fromEntries(members.filter(([, member]) => member !== undefined));
  }
  if (items !== undefined) return (value as unknown[]).map((each) => fromAvro(each, items));
  return type === undefined ? value : fromAvro(value, type);
}

/** Same channels and messages; for every operation of one the same in the other with the action swapped. */
function mirrorFaults({ parley, partner }: Documents): string[] {
  const faults: string[] = [];
  if (!isDeepStrictEqual(parley.channels, partner.channels)) faults.push('mirror: other channels');
  if (!isDeepStrictEqual(parley.components, partner.components)) faults.push('mirror: other messages');
  const essence = ({ channel, messages, reply }: Operation, action: string) =>
    JSON.stringify([action, channel, messages, reply ?? null]);
  const swapped = (action: string) => (action === 'send' ? 'receive' : 'send');
  const ours = Object.values(parley.operations).map((operation) => essence(operation, swapped(operation.action)));
  const theirs = Object.values(partner.operations).map((operation) => essence(operation, operation.action));
  for (const each of ours) if (!theirs.includes(each)) faults.push(`mirror: the partner lacks ${each}`);
  for (const each of theirs) if (!ours.includes(each)) faults.push(`mirror: we lack ${each}`);
  return faults;
}
