import type { RegisteredFormat } from '../../contracts';
import { type AvroType, readAvro } from './avro-schema';
import { UnreadableSchema } from './break';
import { isObject, readJsonSchema } from './json-schema';
import { type ProtobufMessage, readProtobuf } from './protobuf-schema';

/** One member of a document, as a schema describes it. */
export interface Member {
  optional: boolean;
  doc: string;
}

/** Types that hold each other several times make more paths than there is memory; ours have a few dozen. */
const MAX_MEMBERS = 2000;

/** Every member by its path (`lines[].quantity`); the document itself under the empty one. Throws UnreadableSchema. */
export function membersOf(format: RegisteredFormat, text: string): ReadonlyMap<string, Member> {
  const members = new Members();
  if (format === 'avro') ofAvro(readAvro(text), '', [], members);
  else if (format === 'json-schema') ofJson(readJsonSchema(text), '', false, members);
  else ofProtobuf(readProtobuf(text).messages, members);
  return members;
}

class Members extends Map<string, Member> {
  private described = 0;

  /** Counts each path as often as it is come by. */
  override set(path: string, member: Member): this {
    this.described += 1;
    if (this.described > MAX_MEMBERS) throw new UnreadableSchema(`it describes more than ${MAX_MEMBERS} members`);
    return super.set(path, member);
  }
}

const under = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);

/** `open`: records on the way here; one that holds itself is described once. */
function ofAvro(type: AvroType, path: string, open: readonly AvroType[], members: Members): void {
  if (type.kind === 'union') for (const branch of type.branches) ofAvro(branch, path, open, members);
  else if (type.kind === 'array' || type.kind === 'map')
    ofAvro(type.of, `${path}${type.kind === 'array' ? '[]' : '{}'}`, open, members);
  if (type.kind !== 'record' || open.includes(type)) return;
  if (path === '') members.set('', { optional: false, doc: type.doc });
  for (const field of type.fields) {
    const at = under(path, field.name);
    members.set(at, { optional: field.default !== undefined, doc: field.doc });
    ofAvro(field.type, at, [...open, type], members);
  }
}

function ofProtobuf(messages: readonly ProtobufMessage[], members: Members): void {
  const byName = new Map(messages.map((message) => [message.name, message]));
  const describe = (message: ProtobufMessage, path: string, open: readonly ProtobufMessage[]): void => {
    if (open.includes(message)) return;
    for (const field of message.fields) {
      const at = under(path, field.name);
      members.set(at, {
        optional: field.cardinality !== 'implicit' && field.cardinality !== 'required',
        doc: field.doc,
      });
      const inner = byName.get(field.type.replace(/^map<\w+, (.+)>$/, '$1'));
      const many = { repeated: '[]', map: '{}' }[field.cardinality as string] ?? '';
      if (inner) describe(inner, `${at}${many}`, [...open, message]);
    }
  };
  // The document is the first message of its file.
  const [root] = messages;
  if (!root) return;
  members.set('', { optional: false, doc: root.doc });
  describe(root, '', []);
}

function ofJson(schema: unknown, path: string, optional: boolean, members: Members): void {
  if (!isObject(schema)) return;
  const doc = schema['description'];
  if (!path.endsWith('[]')) members.set(path, { optional, doc: typeof doc === 'string' ? doc : '' });
  if (isObject(schema['items'])) ofJson(schema['items'], `${path}[]`, false, members);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const [name, member] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {}))
    ofJson(member, under(path, name), !required.includes(name), members);
}
