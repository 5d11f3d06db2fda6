import { Ajv2020 } from 'ajv/dist/2020';
import { Type } from 'avsc';
import { readFileSync } from 'node:fs';
import { parse, type Type as MessageType } from 'protobufjs';
import * as contracts from '../../src/contracts';
import {
  type AnyContract,
  CONTRACTS,
  INTEGER_PATTERN,
  PERSONAL_DATA,
  recordNameOf,
  schemaFileOf,
} from '../../src/contracts';
import { REGISTERED_CONTRACTS } from '../unit/messaging/registry/documents';

/** A document's shape, as all schema languages can say it: name → type, `?` where it may be missing. */
interface Shape {
  [member: string]: string | Shape | Shape[];
}
type Member = Shape[string];

const textOf = (contract: AnyContract, format: contracts.RegisteredFormat) =>
  readFileSync(schemaFileOf(contract, format), 'utf8');

interface Rule {
  type: string;
  pattern?: string;
  minItems?: number;
  [PERSONAL_DATA]?: boolean;
  items?: Rule;
  properties?: Record<string, Rule>;
  required?: string[];
}

function jsonShape({ properties = {}, required = [] }: Rule): Shape {
  return Object.fromEntries<Member>(
    Object.entries(properties).map(([member, rule]): [string, Member] => {
      const name = required.includes(member) ? member : `${member}?`;
      if (rule.items) return [name, [jsonShape(rule.items)]];
      if (rule.properties) return [name, jsonShape(rule)];
      return [name, rule.type === 'integer' ? 'int' : rule.pattern === INTEGER_PATTERN ? 'long' : rule.type];
    }),
  );
}

interface AvroRecord {
  fields: { name: string; type: unknown; default?: unknown }[];
}

function avroShape({ fields }: AvroRecord): Shape {
  return Object.fromEntries<Member>(
    fields.map(({ name, type, default: missing }): [string, Member] => {
      const optional = Array.isArray(type);
      // Missing has one form, in all contracts: null stands first and is the default.
      if (optional) expect([type[0], missing]).toEqual(['null', null]);
      const inner: unknown = optional ? type[1] : type;
      const { items, ...record } = inner as { items?: AvroRecord; fields?: AvroRecord['fields'] };
      const shape = record.fields ? avroShape({ fields: record.fields }) : (inner as string);
      return [optional ? `${name}?` : name, items ? [avroShape(items)] : shape];
    }),
  );
}

const PROTOBUF: Readonly<Record<string, string>> = { string: 'string', int32: 'int', int64: 'long' };

/** Protobuf can't say whether a list may be missing. */
function protobufShape(type: MessageType, lists: (member: string) => string): Shape {
  return Object.fromEntries<Member>(
    type.fieldsArray.map(({ name, repeated, hasPresence, type: kind, resolvedType }): [string, Member] => {
      if (repeated) return [lists(name), [protobufShape(resolvedType as MessageType, (member) => member)]];
      const inner = resolvedType ? protobufShape(resolvedType as MessageType, lists) : PROTOBUF[kind];
      return [hasPresence ? `${name}?` : name, inner as Member];
    }),
  );
}

const each = (list: readonly AnyContract[]) => list.map((contract) => [contract.name, contract] as const);

describe('the schemas of a contract', () => {
  it.each(each(REGISTERED_CONTRACTS))('%s: Avro has the members of the JSON Schema, as optional', (_name, contract) => {
    const schema = JSON.parse(textOf(contract, 'avro')) as AvroRecord;
    expect(avroShape(schema)).toEqual(jsonShape(contract.jsonSchema as unknown as Rule));
  });

  it.each(each(REGISTERED_CONTRACTS))('%s: so has Protobuf', (_name, contract) => {
    const root = parse(textOf(contract, 'protobuf')).root.resolveAll();
    const expected = jsonShape(contract.jsonSchema as unknown as Rule);
    const listName = (member: string) => (`${member}?` in expected ? `${member}?` : member);
    expect(protobufShape(root.lookupType(recordNameOf(contract)), listName)).toEqual(expected);
  });

  it.each(each(REGISTERED_CONTRACTS))('%s: each names its record alike', (_name, contract) => {
    const fullName = recordNameOf(contract);
    expect(Type.forSchema(JSON.parse(textOf(contract, 'avro')) as never).name).toBe(fullName);
    const { package: pkg, root } = parse(textOf(contract, 'protobuf'));
    expect(pkg).toBe(fullName.slice(0, fullName.lastIndexOf('.')));
    // The first message of its file, which the wire format says in one byte.
    const messages = root.lookup(pkg as string)?.toJSON() as { nested: object };
    expect(Object.keys(messages.nested)[0]).toBe(fullName.split('.').at(-1));
  });

  it.each(each(CONTRACTS))('%s: the JSON Schema is the one beside it, and names the record', (_name, contract) => {
    expect(JSON.parse(textOf(contract, 'json-schema'))).toEqual(contract.jsonSchema);
    expect(contract.jsonSchema['title']).toBe(recordNameOf(contract));
  });

  it.each(each(CONTRACTS))('%s: lists are never empty, and rules are those of the contracts', (_name, contract) => {
    const known = Object.entries(contracts).flatMap(([name, value]) => (name.endsWith('_PATTERN') ? [value] : []));
    const slugs = /^\^\[a-z\]\[a-z(0-9)?-\]/;
    for (const rule of rulesIn(contract.jsonSchema as unknown as Rule)) {
      if (rule.type === 'array') expect(rule.minItems).toBeGreaterThanOrEqual(1);
      if (rule.pattern !== undefined && !slugs.test(rule.pattern)) expect(known).toContain(rule.pattern);
    }
  });

  it.each(each(CONTRACTS))('%s: only texts are personal data', (_name, contract) => {
    for (const rule of rulesIn(contract.jsonSchema as unknown as Rule)) {
      if (rule[PERSONAL_DATA] !== undefined) expect([rule[PERSONAL_DATA], rule.type]).toEqual([true, 'string']);
    }
  });

  it.each(each(CONTRACTS))('%s: its examples are valid, and have its key', (_name, contract) => {
    const validate = new Ajv2020({ strict: true, strictRequired: false, keywords: [PERSONAL_DATA] }).compile(
      contract.jsonSchema,
    );
    for (const example of contract.examples) {
      expect([validate(example), validate.errors]).toEqual([true, null]);
      expect(example).toHaveProperty(contract.key, expect.any(String));
    }
  });
});

function rulesIn(rule: Rule): Rule[] {
  const inner = [...Object.values(rule.properties ?? {}), ...(rule.items ? [rule.items] : [])];
  return [rule, ...inner.flatMap(rulesIn)];
}
