import { type Field, parse, type Type, Writer } from 'protobufjs';

/** What a field of ours holds: a scalar, a message, or a list of messages. */
export type FieldKind = Scalar | MessagePlan;
type Scalar = keyof typeof ZEROS;

const ZEROS = { string: '', int32: 0, int64: '0', bool: false } as const;

export interface MessagePlan {
  fields: readonly FieldPlan[];
}

export interface FieldPlan {
  number: number;
  member: string;
  kind: FieldKind;
  /** A list of it. */
  many: boolean;
  /** What the member is when the bytes don't say; undefined where it is then missing. */
  zero: unknown;
}

/** Parses a .proto of ours. For no others: protobufjs runs code made from a schema. */
export function parseMessage(schemaText: string, name: string): Type {
  const { root } = parse(schemaText, { keepCase: false });
  root.resolveAll();
  return root.lookupType(name);
}

/** Fails for what other schema languages could not say in the same way. */
export function planOf(type: Type): MessagePlan {
  const fields = type.fieldsArray.map((field): FieldPlan => {
    const kind = kindOf(field);
    const zero = typeof kind === 'string' && !field.hasPresence ? ZEROS[kind] : undefined;
    return { number: field.id, member: field.name, kind, many: field.repeated, zero };
  });
  return { fields };
}

function kindOf({ fullName, type, repeated, map, partOf, resolvedType }: Field): FieldKind {
  const choice = partOf !== null && !partOf.isProto3Optional;
  if (!map && !choice) {
    if (!repeated && type in ZEROS) return type as Scalar;
    if (resolvedType !== null && 'fieldsArray' in resolvedType) return planOf(resolvedType);
  }
  throw new Error(`${fullName}: not a type that is the same in all formats`);
}

/** What writes a value after a frame; 64-bit integers are text. */
export function protobufWriter(type: Type): (frame: Buffer, value: unknown) => Buffer {
  return (frame, value) => {
    const writer = Writer.create().raw(frame);
    return type.encode(value as Record<string, unknown>, writer).finish() as Buffer;
  };
}
