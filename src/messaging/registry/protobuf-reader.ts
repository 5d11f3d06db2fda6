import type { ByteCursor } from './byte-cursor';
import { Malformed } from './malformed';
import type { FieldPlan, MessagePlan } from './protobuf-message';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

/**
 * One message that ends at `end`. Unknown fields are stepped over; so is a known number with another wire type, which
 * Protobuf calls an unknown field. Of a field that comes twice the last counts.
 */
export function readMessage(cursor: ByteCursor, { fields, zeros }: MessagePlan, end: number): Record<string, unknown> {
  const message: Record<string, unknown> = {};
  for (const [member, zero] of zeros) message[member] = zero;
  while (cursor.pos < end) {
    const tag = cursor.varint();
    const field = fields.get(Math.floor(tag / 8));
    if (field !== undefined && (tag & 7) === wireTypeOf(field)) readField(cursor, field, message, end);
    else skipField(cursor, tag);
  }
  if (cursor.pos !== end) throw new Malformed('a field reaches beyond its message');
  return message;
}

const wireTypeOf = ({ kind }: FieldPlan) => (kind === 'string' || typeof kind === 'object' ? BYTES : VARINT);

function readField(cursor: ByteCursor, field: FieldPlan, message: Record<string, unknown>, end: number): void {
  const { member, kind } = field;
  switch (kind) {
    case 'string':
      message[member] = cursor.text(cursor.varint());
      return;
    case 'int32':
      message[member] = cursor.int32();
      return;
    case 'int64':
      message[member] = BigInt.asIntN(64, cursor.varint64()).toString();
      return;
    case 'bool':
      message[member] = cursor.varint() !== 0;
      return;
    default: {
      const nested = readNested(cursor, kind, end);
      const list = message[member] as unknown[] | undefined;
      if (list === undefined) message[member] = [nested];
      else list.push(nested);
    }
  }
}

function readNested(cursor: ByteCursor, plan: MessagePlan, end: number): Record<string, unknown> {
  const length = cursor.varint();
  if (length > end - cursor.pos) throw new Malformed('a message reaches beyond the one around it');
  return readMessage(cursor, plan, cursor.pos + length);
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
