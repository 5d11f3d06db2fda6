import { readFileSync } from 'node:fs';
import { type AnyContract, schemaFileOf } from '../../contracts';
import { resolveAvro } from './avro-reader';
import { parseAvroSchema } from './avro-schema';
import { avroWriter } from './avro-writer';
import type { BodyFormat } from './body-format';
import { ByteCursor } from './byte-cursor';
import { Malformed } from './malformed';

export function avroFormat(contract: AnyContract): BodyFormat {
  const schemaText = readFileSync(schemaFileOf(contract, 'avro'), 'utf8');
  const ours = parseAvroSchema(schemaText);
  return {
    format: 'avro',
    contentType: 'application/avro',
    schemaText,
    withIndexes: false,
    encode: avroWriter(schemaText),
    reader(writer, references) {
      const read = resolveAvro(parseAvroSchema(writer.text, references), ours);
      return (value, from) => {
        const cursor = new ByteCursor(value, from);
        const document = read(cursor);
        if (cursor.pos !== cursor.end) throw new Malformed(`${cursor.end - cursor.pos} bytes are left over`);
        return document;
      };
    },
  };
}
