import { readFileSync } from 'node:fs';
import { type AnyContract, schemaFileOf } from '../../contracts';
import type { BodyFormat } from './body-format';
import { parseJson } from './json-text';

/** JSON text behind a schema id. The writer's schema has to be one of the topic's; it is not compiled and says nothing else. */
export function jsonFormat(contract: AnyContract): BodyFormat {
  return {
    format: 'json-schema',
    contentType: 'application/json',
    schemaText: readFileSync(schemaFileOf(contract, 'json-schema'), 'utf8'),
    withIndexes: false,
    encode(frame, value) {
      // Room for the frame as text in front: one buffer is made, and no length has to be counted.
      const bytes = Buffer.from(`\0\0\0\0\0${JSON.stringify(value)}`);
      bytes.set(frame);
      return bytes;
    },
    reader: () => parseJson,
  };
}
