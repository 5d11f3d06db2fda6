import { readFileSync } from 'node:fs';
import { type AnyContract, recordNameOf, schemaFileOf } from '../../contracts';
import type { BodyFormat } from './body-format';
import { ByteCursor } from './byte-cursor';
import { SchemaMismatch } from './malformed';
import { parseMessage, planOf, protobufWriter } from './protobuf-message';
import { messageNames } from './protobuf-names';
import { messageReader } from './protobuf-reader';

/** The fields' numbers are what both sides go by; the writer's schema says only which message it wrote. */
export function protobufFormat(contract: AnyContract): BodyFormat {
  const schemaText = readFileSync(schemaFileOf(contract, 'protobuf'), 'utf8');
  const name = recordNameOf(contract);
  const type = parseMessage(schemaText, name);
  const read = messageReader(planOf(type));
  return {
    format: 'protobuf',
    contentType: 'application/protobuf',
    schemaText,
    withIndexes: true,
    encode: protobufWriter(type),
    reader(writer) {
      const isOurs = messageFinder(writer.text, name);
      return (value, from, indexes) => {
        isOurs(indexes);
        const cursor = new ByteCursor(value, from);
        return read(cursor, cursor.end);
      };
    },
  };
}

/** Throws SchemaMismatch unless the message at that place is `name`. */
function messageFinder(text: string, name: string): (indexes: readonly number[]) => void {
  const nameAt = messageNames(text);
  let ours: readonly number[] | undefined;
  return (indexes) => {
    if (ours !== undefined && ours.length === indexes.length && ours.every((index, i) => index === indexes[i])) return;
    const found = nameAt(indexes);
    if (found !== name) throw new SchemaMismatch(`the record holds a ${found.slice(0, 100)}, not a ${name}`);
    ours = indexes;
  };
}
