import type { ByteCursor } from './byte-cursor';
import { Malformed } from './malformed';
import { generated, objectText } from './generated';
import type { MessagePlan } from './protobuf-message';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/** One message that ends at `end`. */
export type ReadMessage = (cursor: ByteCursor, end: number) => Record<string, unknown>;

/**
 * Reads the messages of a plan. Unknown fields are stepped over; so is a known number with another wire type, which Protobuf
 * calls an unknown field. Of a field that comes twice the last counts.
 */
export function messageReader({ fields }: MessagePlan): ReadMessage {
  const always: [variable: string, member: string][] = [];
  const maybe: [variable: string, member: string][] = [];
  const variables: string[] = [];
  const cases: string[] = [];
  const nested: ReadMessage[] = [];
  for (const { number, member, kind, zero } of fields) {
    const variable = `v${number}`;
    variables.push(`let ${variable} = ${JSON.stringify(zero)};`);
    (zero === undefined ? maybe : always).push([variable, member]);
    const tag = number * 8 + (kind === 'string' || typeof kind === 'object' ? BYTES : VARINT);
    const read =
      typeof kind === 'object'
        ? `(${variable} ??= []).push(nest(cursor, nested[${nested.push(messageReader(kind)) - 1}]));`
        : `${variable} = read.${kind}(cursor);`;
    cases.push(`case ${tag}: ${read} break;`);
  }
  return generated<ReadMessage>(
    { nested, nest, read: READS, skipField, overrun },
    `(cursor, end) => {
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
function nest(cursor: ByteCursor, read: ReadMessage): Record<string, unknown> {
  const length = cursor.varint();
  return read(cursor, cursor.pos + length);
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
