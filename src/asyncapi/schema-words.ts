import { type JsonSchema, PATTERN_WORDS, PERSONAL_DATA } from '../contracts';
import { unsupported } from './draft07';

/** A member of a document, at any depth. */
export interface Field {
  /** `lines[].quantity` */
  path: string;
  type: string;
  /** Within the object that holds it. */
  required: boolean;
  /** The schema's rules as phrases; `code` stands between backticks. */
  rules: string[];
  description: string;
}

/** What a document's schema says, for people. */
export interface SchemaInWords {
  fields: Field[];
  /** Rules between fields, a sentence each. */
  conditions: string[];
}

interface Node {
  type?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  [PERSONAL_DATA]?: boolean;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Node;
  required?: string[];
  properties?: Record<string, Node | boolean>;
  if?: Node;
  then?: Node;
  else?: Node;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'object',
};

const INT32_MAX = 2_147_483_647;
const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

/** Every rule of the schema in words. Throws `schema-unsupported` for one that it can't say: none is left out silently. */
export function describeSchema(schema: JsonSchema): SchemaInWords {
  const words: SchemaInWords = { fields: [], conditions: [] };
  describeObject(schema, '', words);
  return words;
}

function describeObject(node: Node, prefix: string, words: SchemaInWords): void {
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    const path = `${prefix}${name}`;
    if (typeof member === 'boolean') throw unsupported(path, 'A member that is always or never there');
    words.fields.push({
      path,
      type: TYPES[member.type ?? ''] ?? 'anything',
      required: node.required?.includes(name) ?? false,
      rules: rulesOf(member),
      description: member.description ?? '',
    });
    if (member.type === 'object') describeObject(member, `${path}.`, words);
    if (member.items?.type === 'object') describeObject(member.items, `${path}[].`, words);
  }
  if (node.if) words.conditions.push(conditionOf(node, prefix));
}

function rulesOf(node: Node): string[] {
  const rules: string[] = [];
  if ('const' in node) rules.push(`always ${code(node.const)}`);
  if (node.enum) rules.push(`one of ${node.enum.map(code).join(', ')}`);
  if (node.pattern !== undefined) rules.push(PATTERN_WORDS[node.pattern] ?? `matches ${code(node.pattern)}`);
  rules.push(
    ...range(node.minLength, node.maxLength, 'characters'),
    ...range(node.minimum, node.maximum === INT32_MAX ? undefined : node.maximum, ''),
    ...range(node.minItems, node.maxItems, 'entries'),
  );
  if (node[PERSONAL_DATA]) rules.push('personal data');
  if (node.maximum === INT32_MAX) rules.push('fits 32 bits');
  if (node.items && node.items.type !== 'object') {
    rules.push(`each entry: ${[TYPES[node.items.type ?? ''] ?? 'anything', ...rulesOf(node.items)].join(', ')}`);
  }
  return rules;
}

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  const of = unit && ` ${unit}`;
  if (least !== undefined && most !== undefined) return [`${least} to ${most}${of}`];
  if (least !== undefined) return [`at least ${least}${of}`];
  return most === undefined ? [] : [`at most ${most}${of}`];
}

function conditionOf(node: Node, prefix: string): string {
  const otherwise = node.else ? ` Otherwise ${clauses(node.else, prefix)}.` : '';
  return `Where ${clauses(node.if as Node, prefix)}, ${clauses(node.then ?? {}, prefix)}.${otherwise}`;
}

/** `responseCode` is `CA`; `lines` is required; `lines` is not allowed. */
function clauses(node: Node, prefix: string): string {
  const { required = [], properties = {}, ...rest } = node;
  // What is stated of a member's value says that it is there.
  const absent = required.filter((name) => !(name in properties));
  const found = absent.map((name) => `\`${prefix}${name}\` is required`);
  for (const [name, member] of Object.entries(properties)) {
    if (member === false) found.push(`\`${prefix}${name}\` is not allowed`);
    else if (typeof member === 'object' && Object.keys(member).join() === 'const') {
      found.push(`\`${prefix}${name}\` is ${code(member.const)}`);
    } else throw unsupported(`${prefix}${name}`, 'This condition');
  }
  if (Object.keys(rest).length > 0 || found.length === 0) throw unsupported(prefix, 'This condition');
  return found.join(' and ');
}
