import type { ByteCursor } from './byte-cursor';
import { Malformed } from './malformed';
import { generated, memberName, objectText } from './generated';
import type { MessagePlan } from './protobuf-message';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/** One message that ends at `end`. `before`: what was read of the same one, see {@link messageReader}. */
export type ReadMessage = (cursor: ByteCursor, end: number, before?: Message) => Message;
type Message = Record<string, unknown>;

/**
 * Reads the messages of a plan. Unknown fields are stepped over; so is a known number with another wire type, which Protobuf
 * calls an unknown field. Of a field that comes twice the last counts; of a message that does, each field's last.
 * @param isPart is it read in such parts?
 */
export function messageReader({ fields }: MessagePlan, isPart = false): ReadMessage {
  const always: [variable: string, member: string][] = [];
  const maybe: [variable: string, member: string][] = [];
  const variables: string[] = [];
  const cases: string[] = [];
  const nested: ReadMessage[] = [];
  for (const { number, member, kind, many, zero } of fields) {
    const variable = `v${number}`;
    const start = JSON.stringify(zero);
    variables.push(
      `let ${variable} = ${isPart ? `before === undefined ? ${start} : before.${memberName(member)}` : start};`,
    );
    (zero === undefined ? maybe : always).push([variable, member]);
    const tag = number * 8 + (kind === 'string' || typeof kind === 'object' ? BYTES : VARINT);
    let read = `${variable} = read.${typeof kind === 'object' ? '' : kind}(cursor);`;
    if (typeof kind === 'object') {
      const inner = `nested[${nested.push(messageReader(kind, !many)) - 1}]`;
      read = many
        ? `(${variable} ??= []).push(nest(cursor, ${inner}));`
        : `${variable} = nest(cursor, ${inner}, ${variable});`;
    }
    cases.push(`case ${tag}: ${read} break;`);
  }
  return generated<ReadMessage>(
    { nested, nest, read: READS, skipField, overrun },
    `(cursor, end${isPart ? ', before' : ''}) => {
      ${variables.join('\n')}
      while (cursor.pos < end) {
        const tag = cursor.varint();
        switch (tag) {
          ${cases.join('\n')}
          default: skipField(cursor, tag);
        }
      }
      if (cursor.pos !== end) overrun();
      ${objectText(always, maybe)}
    }`,
  );
}

const READS = {
  string: (cursor: ByteCursor) => cursor.text(cursor.varint()),
  int32: (cursor: ByteCursor) => cursor.int32(),
  int64: (cursor: ByteCursor) => BigInt.asIntN(64, cursor.varint64()).toString(),
  bool: (cursor: ByteCursor) => cursor.varint() !== 0,
};

/** A length that reaches beyond the message around it is found out at the end of that one. */
function nest(cursor: ByteCursor, read: ReadMessage, before?: Message): Message {
  const length = cursor.varint();
  return read(cursor, cursor.pos + length, before);
}

function overrun(): never {
  throw new Malformed('a field reaches beyond its message');
}

function skipField(cursor: ByteCursor, tag: number): void {
  const number = Math.floor(tag / 8);
  if (number === 0 || tag > 0xffffffff) throw new Malformed(`there is no field ${number}`);
  switch (tag & 7) {
    case VARINT:
      return void cursor.varint();
    case FIXED64:
      return cursor.skip(8);
    case BYTES:
      return cursor.skip(cursor.varint());
    case GROUP:
      return skipGroup(cursor, number);
    case FIXED32:
      return cursor.skip(4);
    default:
      throw new Malformed(`there is no wire type ${tag & 7} here`);
  }
}

function skipGroup(cursor: ByteCursor, number: number): void {
  cursor.enter();
  let tag = cursor.varint();
  for (; (tag & 7) !== GROUP_END; tag = cursor.varint()) skipField(cursor, tag);
  if (Math.floor(tag / 8) !== number) throw new Malformed("a group ends with another's end");
  cursor.leave();
}
