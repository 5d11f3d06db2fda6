import { readFileSync } from 'node:fs';
import { type AnyContract, schemaFileOf } from '../../contracts';
import type { BodyFormat } from './body-format';
import { parseJson } from './json-text';
import { putFrame } from './wire-format';

/** JSON text behind a schema id. The writer's schema has to be one of the topic's; it is not compiled and says nothing else. */
export function jsonFormat(contract: AnyContract): BodyFormat {
  return {
    format: 'json-schema',
    contentType: 'application/json',
    schemaText: readFileSync(schemaFileOf(contract, 'json-schema'), 'utf8'),
    withIndexes: false,
    encode(frame, value) {
      const text = JSON.stringify(value);
      const bytes = Buffer.allocUnsafe(frame.length + Buffer.byteLength(text));
      putFrame(frame, bytes);
      bytes.write(text, frame.length, 'utf8');
      return bytes;
    },
    reader: () => parseJson,
  };
}
