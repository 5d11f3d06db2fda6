import type { RegisteredFormat } from '../../contracts';
import { SchemaRefused } from '../registry';
import { judgeAvro } from './avro-judge';
import { type Break, UnreadableSchema } from './break';
import { judgeJsonSchema } from './json-schema-judge';
import { judgeProtobuf } from './protobuf-judge';

const JUDGES: Readonly<Record<RegisteredFormat, (older: string, newer: string) => Break[]>> = {
  avro: judgeAvro,
  protobuf: judgeProtobuf,
  'json-schema': judgeJsonSchema,
};

/**
 * Everything in `newer` that a reader or a record of `older` can't live with, in either direction; nothing: both get along.
 * Total: text that can't be read is a break.
 */
export function judgeSchemas(format: RegisteredFormat, older: string, newer: string): Break[] {
  if (older === newer) return [];
  try {
    return JUDGES[format](older, newer);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return [{ place: '', rule: 'unreadable', detail: `One of the two can't be read: ${error.message}` }];
  }
}

/** The text itself is at fault: no language of schemas takes it, or it is larger or deeper than we read. */
export const isUnreadable = (error: unknown): error is Error =>
  error instanceof UnreadableSchema || error instanceof SchemaRefused;
