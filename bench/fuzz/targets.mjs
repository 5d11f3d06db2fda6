import { readFileSync } from 'node:fs';

const CONTRACTS = [
  ...['orderRequest', 'orderResponse', 'orderCancellation', 'orderCancellationResponse', 'despatchAdvice'],
  ...['despatchReceipt', 'errorReport', 'notificationRequest'],
];

/** A field of each type, which no contract of ours has: all of them are stepped over. */
const FOREIGN = [
  { name: 'someEnum', type: { type: 'enum', name: 'Colour', symbols: ['RED', 'GREEN'] } },
  { name: 'someMap', type: { type: 'map', values: { type: 'array', items: 'long' } } },
  { name: 'someNulls', type: { type: 'array', items: ['null', { type: 'array', items: 'null' }] } },
  { name: 'someFixed', type: { type: 'fixed', name: 'Sum', size: 3 } },
  { name: 'someTree', type: { type: 'record', name: 'Tree', fields: [{ name: 'next', type: ['null', 'Tree'] }] } },
  { name: 'someFloat', type: 'float' },
  { name: 'someDouble', type: ['null', 'double'] },
  { name: 'someFlag', type: 'boolean' },
  { name: 'someBytes', type: 'bytes' },
];
const FOREIGN_VALUES = {
  ...{ someEnum: 'GREEN', someMap: { a: [1, -1, 2 ** 40], b: [] }, someNulls: [null, [null, null], []] },
  ...{ someFixed: Buffer.from('abc'), someTree: { next: { next: null } }, someFloat: 1.5, someDouble: 2.5 },
  ...{ someFlag: true, someBytes: Buffer.from([1, 2, 3]) },
};

/** Answers from memory; it has what `put` gave it. */
export class Shelf {
  schemas = [];

  put(subject, format, text) {
    const version = this.schemas.length + 1;
    this.schemas.push({ id: version, version, subject, format, text, references: [] });
    return version;
  }

  async versions(subject) {
    return this.schemas.filter((schema) => schema.subject === subject);
  }

  async lookup(subject, { format, text }) {
    return (await this.versions(subject)).find((schema) => schema.format === format && schema.text === text);
  }
}

const framed = (id, body) => Buffer.concat([Buffer.from([0, 0, 0, 0, id]), body]);

/**
 * All decoders of the contracts, as whoever writes to a topic reaches them, and the parsers of schemas that others register.
 * The modules are handed in: compiled ones, or the source under test. Records are given as fetched long ago, so that an unknown
 * schema id is answered from the last listing and not waited for.
 */
export async function targetsOf({ contracts, registry, internals, avsc }) {
  const shelf = new Shelf();
  const codec = registry.createCodec(shelf);
  const targets = [];
  for (const contract of CONTRACTS.map((name) => contracts[name])) {
    const topic = contracts.topicFor(contract, 'acme');
    const subject = contracts.subjectFor(contract, topic);
    for (const format of contract.format ? [contract.format] : contracts.FORMATS) {
      const route = { topic, format };
      if (format !== 'json') shelf.put(subject, format, readFileSync(contracts.schemaFileOf(contract, format), 'utf8'));
      const written = [];
      for (const example of contract.examples) written.push((await codec.encode(contract, route, example)).payload);
      targets.push({
        name: `${contract.name} in ${format}`,
        seeds: written,
        keep: format === 'json' ? 0 : format === 'protobuf' ? 6 : 5,
        decode: (value) => codec.decode(contract, route, { value, headers: {}, seenAt: 0 }),
        encode: (value) => codec.encode(contract, route, value),
      });
    }
  }
  targets.push(
    foreignWriter(contracts, registry, avsc, codec),
    ...schemaParsers(contracts, internals),
    headerTarget(contracts, codec),
  );
  // Each schema is asked for once, here, so that none of the cases waits for it.
  for (const { decode, seeds } of targets) await decode(seeds[0]);
  return targets;
}

function foreignWriter(contracts, { createCodec }, avsc) {
  const { orderResponse: contract, schemaFileOf, subjectFor } = contracts;
  const route = { topic: 'orders.foreign.response.v1', format: 'avro' };
  const schema = JSON.parse(readFileSync(schemaFileOf(contract, 'avro'), 'utf8'));
  schema.fields.splice(1, 0, ...FOREIGN);
  const shelf = new Shelf();
  const id = shelf.put(subjectFor(contract, route.topic), 'avro', JSON.stringify(schema));
  const codec = createCodec(shelf);
  const writer = avsc.Type.forSchema(schema);
  return {
    name: 'a foreign writer in avro',
    seeds: contract.examples.map((example) => framed(id, writer.toBuffer({ ...FOREIGN_VALUES, ...example }))),
    keep: 5,
    decode: (value) => codec.decode(contract, route, { value, headers: {}, seenAt: 0 }),
  };
}

/** The value is a body, the header what is changed. */
function headerTarget({ orderResponse }, codec) {
  const route = { topic: 'orders.acme.response.v1', format: 'protobuf' };
  const ids = ['000000000500', '000000000502040a', '01000000000000400080000000000000050000'];
  return {
    name: 'the header',
    seeds: ids.map((hex) => Buffer.from(hex, 'hex')),
    keep: 5,
    decode: (id) =>
      codec.decode(orderResponse, route, { value: Buffer.alloc(0), headers: { __value_schema_id: id }, seenAt: 0 }),
  };
}

/** Schemas as a registry may hold them, with the bytes of a document of ours. */
function schemaParsers(
  { despatchAdvice, schemaFileOf },
  { parseAvroSchema, resolveAvro, ByteCursor, messageNames, faults },
) {
  const text = (format) => readFileSync(schemaFileOf(despatchAdvice, format));
  const ours = parseAvroSchema(text('avro').toString());
  const body = Buffer.from('02310244023130000000020a023100', 'hex');
  const answered = (work) => async (bytes) => {
    try {
      return { ok: true, value: work(bytes.toString()) };
    } catch (error) {
      if (!faults.some((fault) => error instanceof fault)) throw error;
      return { ok: false, error: { code: 'schema-mismatch', detail: error.message } };
    }
  };
  return [
    {
      name: 'a schema of Avro',
      seeds: [text('avro'), Buffer.from(JSON.stringify({ type: 'record', name: 'DespatchAdvice', fields: FOREIGN }))],
      keep: 0,
      decode: answered((schema) => resolveAvro(parseAvroSchema(schema), ours)(new ByteCursor(body, 0))),
    },
    {
      name: 'a schema of Protobuf',
      seeds: [text('protobuf'), Buffer.from('/* a */ package b; message C { message D {} option e = "\\"" ; } // f\n')],
      keep: 0,
      decode: answered((schema) => messageNames(schema)([0, 0])),
    },
  ];
}
