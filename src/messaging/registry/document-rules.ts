import { _, type ErrorObject, type KeywordCxt } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import { type AnyContract, isMask, PATTERN_WORDS, PERSONAL_DATA, personalTexts } from '../../contracts';
import { NonRetriableError, type Violation } from '../../platform/errors';
import { pointerOf } from '../../platform/json';

/** The rule of a contract that a document breaks, if any: the same in all formats and in both directions. */
export type Rules = (document: unknown) => Violation | undefined;

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: false });
ajv.addKeyword({
  keyword: 'wholeCharacters',
  type: 'string',
  error: { message: 'must not hold half a character' },
  code: (context: KeywordCxt) => context.pass(_`${context.data}.isWellFormed()`),
});

ajv.addKeyword({ keyword: PERSONAL_DATA, type: 'string', schemaType: 'boolean', metaSchema: { const: true } });

const known = new WeakMap<AnyContract, Rules>();

/** Compiled once a contract. */
export function rulesOf(contract: AnyContract): Rules {
  let rules = known.get(contract);
  if (!rules) known.set(contract, (rules = compile(contract)));
  return rules;
}

function compile(contract: AnyContract): Rules {
  const validate = ajv.compile(withWholeCharacters(contract.jsonSchema) as Record<string, unknown>);
  return (document) => (validate(document) ? undefined : violationOf(validate));
}

/**
 * A text with half a surrogate pair is no text: JSON can carry it as an escape, UTF-8 (and so Avro and Protobuf) can't. Our
 * patterns allow ASCII alone, so that only texts without one need to be looked at.
 */
function withWholeCharacters(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withWholeCharacters);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withWholeCharacters(value)]));
  return copy['type'] === 'string' && !('pattern' in copy) ? { ...copy, wholeCharacters: true } : copy;
}

function violationOf({ errors }: ValidateFunction): Violation {
  const [error] = errors ?? [];
  const missing = error?.keyword === 'required' ? `/${String(error.params['missingProperty'])}` : '';
  return {
    // RFC 6901: the whole document is the empty text.
    pointer: `${error?.instancePath ?? ''}${missing}`,
    detail: (error ? inWords(error) : 'is invalid').slice(0, 300),
  };
}

/** The validator's own words speak of schemas and expressions; staff and partners read these. */
function inWords({ keyword, message, params }: ErrorObject): string {
  const words = keyword === 'pattern' ? PATTERN_WORDS[String(params['pattern'])] : undefined;
  if (words !== undefined) return `must be ${words}`;
  if (keyword === 'false schema') return 'must not be there';
  return keyword === 'required' ? 'is missing' : (message ?? 'is invalid');
}

/** Throws what `encode` throws for a document that must not be written: it breaks a rule, or holds a mask in place of what is masked. */
export function checkWritten(contract: AnyContract, document: unknown): void {
  const violation = rulesOf(contract)(document) ?? maskIn(contract, document);
  if (violation) throw documentInvalid(contract, violation);
}

/** Somebody sends back what was shown: whoever reads the document would take the mask for the person's name. */
function maskIn(contract: AnyContract, document: unknown): Violation | undefined {
  const found = personalTexts(contract, document).find(({ text }) => isMask(text));
  return found && { pointer: pointerOf(found.path), detail: 'must be the value, not its mask' };
}

function documentInvalid(contract: AnyContract, violation: Violation): NonRetriableError {
  return new NonRetriableError(
    'document-invalid',
    `The ${contract.name} breaks its schema: ${violation.pointer || 'it'} ${violation.detail}.`,
    { violations: [violation] },
  );
}
