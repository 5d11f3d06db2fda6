import { KAFKA_BINDING, type Json } from './asyncapi-parts';
import type { Message } from './partner-interface';

/** The newest draft that every AsyncAPI tool must read. */
const JSON_SCHEMA_FORMAT = 'application/schema+json;version=draft-07';

/** What its schema is called, what becomes of later records of the key while one waits, and the rules between fields. */
export function messageWords({ contract, ours, recordName, subject, conditions }: Message): string[] {
  const waiting = contract.laterMessages === 'hold' ? 'wait behind it' : 'go on';
  return [
    ...(subject === undefined ? [] : [`Its schema is \`${recordName}\`, registered under \`${subject}\`.`]),
    ...(ours ? [] : [`While one is undecided, later records of its key on this topic ${waiting}.`]),
    ...conditions,
  ];
}

/** The Message Object; its name is the CloudEvents type. */
export function messageOf(message: Message): Json {
  const { format, rules } = message;
  const words = messageWords(message);
  const [{ headers: example }] = message.examples;
  return {
    name: message.type,
    title: message.title,
    summary: message.contract.summary,
    ...(words.length > 0 ? { description: words.join(' ') } : {}),
    contentType: message.contentType,
    ...(message.headers.some(({ name }) => name === 'ce_correlationid')
      ? { correlationId: { $ref: '#/components/correlationIds/exchange' } }
      : {}),
    headers: {
      type: 'object',
      required: message.headers.filter(({ required }) => required).map(({ name }) => name),
      properties: Object.fromEntries(
        message.headers.map(({ name, schema, description }) => [
          name,
          { ...schema, description, ...('const' in schema || !(name in example) ? {} : { examples: [example[name]] }) },
        ]),
      ),
    },
    payload: payloadOf(message),
    // Avro and Protobuf can't say patterns and lengths.
    ...(format === 'avro' || format === 'protobuf' ? { 'x-parley-rules': rules } : {}),
    bindings: { kafka: bindingOf(message) },
    examples: message.examples,
  };
}

function payloadOf({ format, schemaText, rules }: Message): Json {
  if (format === 'avro') {
    return { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: JSON.parse(schemaText) as unknown };
  }
  if (format === 'protobuf') return { schemaFormat: 'application/vnd.google.protobuf;version=3', schema: schemaText };
  return { schemaFormat: JSON_SCHEMA_FORMAT, schema: rules };
}

function bindingOf({ contract, format, rules }: Message): Json {
  const properties = rules['properties'] as Record<string, Json>;
  return {
    key: { ...properties[contract.key], description: `The document's ${contract.key}, UTF-8.` },
    ...(format === 'json'
      ? {}
      : {
          schemaIdLocation: 'payload',
          schemaIdPayloadEncoding: 'confluent',
          schemaLookupStrategy: 'TopicRecordNameStrategy',
        }),
    ...KAFKA_BINDING,
  };
}
