import {
  Enum,
  Field,
  MapField,
  Namespace,
  type NamespaceBase,
  parse,
  type ReflectionObject,
  tokenize,
  Type,
} from 'protobufjs';
import { checkSchemaText } from '../registry';
import { UnreadableSchema } from './break';

/** `implicit`: no presence, a missing value reads as zero (proto3 without `optional`). */
export type Cardinality = 'implicit' | 'optional' | 'required' | 'repeated' | 'map';

export interface ProtobufField {
  name: string;
  number: number;
  /** Scalar, or the name within the file of a message or enum; as it is written where another file defines it. */
  type: string;
  cardinality: Cardinality;
  oneof: string | undefined;
  /** As written; undefined: the syntax's own way. */
  packed: boolean | undefined;
  jsonName: string | undefined;
  default: string | undefined;
  doc: string;
}

export interface ProtobufMessage {
  /** Within the file: `OrderRequest.Line`. */
  name: string;
  /** Place among its siblings, outermost first: what the wire format's message indexes count. */
  index: string;
  fields: readonly ProtobufField[];
  reservedNumbers: readonly (readonly [number, number])[];
  reservedNames: ReadonlySet<string>;
  doc: string;
}

export interface ProtobufEnum {
  name: string;
  values: ReadonlyMap<string, number>;
}

export interface ProtobufSchema {
  /** `proto2`, `proto3`, or the edition. */
  syntax: string;
  package: string;
  /** Depth first, in the order of the file. */
  messages: readonly ProtobufMessage[];
  enums: readonly ProtobufEnum[];
  /** Extensions and groups are there, which no document of ours has and the judge does not compare. */
  exotic: boolean;
}

/** Its parser takes four times as long for twice as many fields: minutes for a text within our limit of size. */
const MAX_STATEMENTS = 2000;

/** Reads a `.proto` as plain data: nothing of it is resolved elsewhere, compiled or run. Throws {@link UnreadableSchema}, or SchemaRefused beyond our limits. */
export function readProtobuf(text: string): ProtobufSchema {
  checkSchemaText({ format: 'protobuf', text }, 'One');
  // protobufjs leaves it out without a word; what is left out would never be compared.
  if (text.includes('__proto__')) throw new UnreadableSchema('a name that may not be: __proto__');
  const statements = text.split(';').length - 1;
  if (statements > MAX_STATEMENTS) throw new UnreadableSchema(`it has more than ${MAX_STATEMENTS} statements`);
  try {
    return collect(text);
  } catch (error) {
    throw new UnreadableSchema(`not Protobuf: ${(error as Error).message}`);
  }
}

function collect(text: string): ProtobufSchema {
  const { root, package: name = '' } = parse(text, {
    keepCase: true,
    alternateCommentMode: true,
    preferTrailingComment: false,
  });
  const top = name === '' ? root : root.lookup(name);
  if (!(top instanceof Namespace)) throw new Error('no package');
  const syntax = syntaxOf(text);
  const messages: ProtobufMessage[] = [];
  const enums: ProtobufEnum[] = [];
  let exotic = false;
  const visit = (parent: NamespaceBase, path: string, index: string): void => {
    let count = 0;
    for (const child of parent.nestedArray) {
      const childPath = path + child.name;
      if (child instanceof Type) {
        const childIndex = `${index}${count++}`;
        exotic ||= child.extensions !== undefined || (child as Type & { group?: boolean }).group === true;
        messages.push(messageOf(child, childPath, childIndex, { prefix: top.fullName, proto3: syntax === 'proto3' }));
        visit(child, `${childPath}.`, `${childIndex}.`);
      } else if (child instanceof Enum) {
        enums.push({ name: childPath, values: new Map(Object.entries(child.values)) });
      } else if (child instanceof Field) exotic = true;
    }
  };
  visit(top, '', '');
  return { syntax, package: name, messages, enums, exotic };
}

function syntaxOf(text: string): string {
  const tokens = tokenize(text, false);
  const word = tokens.next();
  if (word !== 'syntax' && word !== 'edition') return 'proto2';
  tokens.skip('=');
  tokens.next();
  return tokens.next() ?? '';
}

interface File {
  /** Full name of the package. */
  prefix: string;
  proto3: boolean;
}

function messageOf(type: Type, name: string, index: string, file: File): ProtobufMessage {
  const reserved = type.reserved ?? [];
  return {
    name,
    index,
    // An extension of this message that stands in the same file counts as exotic, not as its field.
    fields: type.fieldsArray.filter((field) => !field.name.startsWith('.')).map((field) => fieldOf(field, type, file)),
    reservedNumbers: reserved
      .filter((entry) => typeof entry !== 'string')
      .map(([from = 0, to = from]) => [from, to] as const),
    reservedNames: new Set(reserved.filter((entry) => typeof entry === 'string')),
    doc: type.comment ?? '',
  };
}

function fieldOf(field: Field, parent: Type, file: File): ProtobufField {
  const options = (field.options ?? {}) as Record<string, unknown>;
  const target = parent.lookup(field.type, [Type, Enum]);
  const oneof = options['proto3_optional'] === true ? undefined : field.partOf?.name;
  const type = target ? within(target, file) : field.type;
  return {
    name: field.name,
    number: field.id,
    type: field instanceof MapField ? `map<${field.keyType}, ${type}>` : type,
    cardinality: cardinalityOf(field, file, target),
    oneof,
    packed: typeof options['packed'] === 'boolean' ? options['packed'] : undefined,
    jsonName: typeof options['json_name'] === 'string' ? options['json_name'] : undefined,
    default: 'default' in options ? String(options['default']) : undefined,
    doc: field.comment ?? '',
  };
}

function cardinalityOf(field: Field, file: File, target: ReflectionObject | null): Cardinality {
  if (field instanceof MapField) return 'map';
  // protobufjs keeps the word in `rule`; its types leave it out.
  const { rule } = field as Field & { rule?: string };
  if (rule === 'repeated' || rule === 'required') return rule;
  const present = !file.proto3 || field.partOf !== null || target instanceof Type;
  return present ? 'optional' : 'implicit';
}

const within = (target: ReflectionObject, file: File): string =>
  file.prefix === '' ? target.fullName.slice(1) : target.fullName.slice(file.prefix.length + 1);
