import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type AnyContract,
  type Format,
  formatOf,
  type RegisteredFormat,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../contracts';
import type { RegisteredSchema, SchemaRegistry } from '../messaging/registry';

/** The schemas of a partner's topics, numbered from 1 in the order of the documents. */
export function numberedSchemas(
  contracts: readonly AnyContract[],
  partner: string,
  spoken: Format,
): RegisteredSchema[] {
  return contracts
    .flatMap((contract) => {
      const format = formatOf(contract, spoken);
      return format === 'json' ? [] : [{ contract, format: format satisfies RegisteredFormat }];
    })
    .map(({ contract, format }, index) => ({
      id: index + 1,
      version: 1,
      subject: subjectFor(contract, topicFor(contract, partner)),
      format,
      text: readFileSync(schemaFileOf(contract, format), 'utf8'),
      references: [],
    }));
}

/**
 * A registry that knows these and no others. A schema that is registered as the first of a new registry gets the same number there: that
 * of the sandbox, to which the fixtures fit therefore.
 */
export function numberedRegistry(schemas: readonly RegisteredSchema[]): SchemaRegistry {
  const of = (subject: string) => schemas.filter((schema) => schema.subject === subject);
  const refused = () => Promise.reject(new Error('nothing is registered here'));
  return {
    trouble: undefined,
    versions: (subject) => Promise.resolve(of(subject)),
    version: (subject, version) => Promise.resolve(of(subject).find((schema) => schema.version === version)),
    lookup: (subject, { text }) => Promise.resolve(of(subject).find((schema) => schema.text === text)),
    judge: refused,
    register: refused,
    setCompatibility: refused,
    close: () => Promise.resolve(),
  };
}

const SCHEMA_TYPES: Readonly<Record<RegisteredFormat, string>> = {
  avro: 'AVRO',
  protobuf: 'PROTOBUF',
  'json-schema': 'JSON',
};

/** What the sandbox registers, in this order: `sandbox/schemas.json`; each file by its path within the kit. */
export function registrations(
  contracts: readonly AnyContract[],
  partner: string,
  schemas: readonly RegisteredSchema[],
) {
  return schemas.map(({ id, subject, format }) => {
    const contract = contracts.find((one) => subjectFor(one, topicFor(one, partner)) === subject) as AnyContract;
    return {
      id,
      subject,
      schemaType: SCHEMA_TYPES[format],
      file: `schemas/${basename(schemaFileOf(contract, format))}`,
    };
  });
}
