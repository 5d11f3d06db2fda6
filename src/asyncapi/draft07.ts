import { type JsonSchema, PERSONAL_DATA } from '../contracts';
import { NonRetriableError } from '../platform/errors';

/** Keywords with the same meaning in 2020-12 and draft-07, each of which {@link describeSchema} says in words. */
const KEYWORDS = new Set([
  ...['$schema', 'title', 'description', 'type', 'const', 'enum', 'pattern', 'minLength', 'maxLength'],
  ...['minimum', 'maximum', 'minItems', 'maxItems', 'items', 'required', 'properties', 'if', 'then', 'else'],
  PERSONAL_DATA,
]);

export const unsupported = (path: string, what: string): NonRetriableError =>
  new NonRetriableError('schema-unsupported', `${what} at ${path || '/'} has no form in a partner's documentation.`, {
    hint: 'Say it with other keywords, or teach the documentation this one.',
  });

/**
 * The contract's schema as draft-07, the newest draft that AsyncAPI tools must read. Nothing is translated: a keyword whose
 * meaning changed between the drafts, or is not known here, throws `schema-unsupported` rather than say something else.
 */
export function toDraft07(schema: JsonSchema): JsonSchema {
  check(schema, '');
  return { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
}

function check(schema: unknown, path: string): void {
  if (typeof schema === 'boolean') return;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw unsupported(path, 'Not a schema');
  for (const [keyword, value] of Object.entries(schema)) {
    if (!KEYWORDS.has(keyword)) throw unsupported(path, `The keyword "${keyword}"`);
    if (['items', 'if', 'then', 'else'].includes(keyword)) check(value, `${path}/${keyword}`);
    if (keyword === 'properties') {
      for (const [name, member] of Object.entries(value as object)) check(member, `${path}/properties/${name}`);
    }
  }
}
