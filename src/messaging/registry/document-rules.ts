import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import type { AnyContract } from '../../contracts';
import { NonRetriableError, type Violation } from '../../platform/errors';

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: false });
const validators = new WeakMap<AnyContract, ValidateFunction>();

/** The rule of the contract that a value breaks, if any: the same for all formats and in both directions. */
export function violationOf(contract: AnyContract, value: unknown): Violation | undefined {
  let validate = validators.get(contract);
  if (!validate) validators.set(contract, (validate = ajv.compile(contract.jsonSchema)));
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  const missing = error?.keyword === 'required' ? `/${String(error.params['missingProperty'])}` : '';
  return {
    pointer: `${error?.instancePath ?? ''}${missing}` || '/',
    detail: (error?.message ?? 'is invalid').slice(0, 300),
  };
}

/** Throws a NonRetriableError `document-invalid` with the violation. */
export function assertValid(contract: AnyContract, value: unknown): void {
  const violation = violationOf(contract, value) ?? halfCharacter(value, '');
  if (!violation) return;
  throw new NonRetriableError(
    'document-invalid',
    `The ${contract.name} breaks its schema: ${violation.pointer} ${violation.detail}.`,
    { violations: [violation] },
  );
}

/**
 * A text with half a surrogate pair is no text: JSON can carry it as an escape, UTF-8 (and so Avro and Protobuf) can't.
 * Only for values whose shape has been checked: members that no rule names are not looked at below the bound.
 */
export function halfCharacter(value: unknown, at: string, depth = 0): Violation | undefined {
  if (typeof value === 'string') {
    return value.isWellFormed() ? undefined : { pointer: at || '/', detail: 'must not hold half a character' };
  }
  if (typeof value !== 'object' || value === null || depth > 100) return undefined;
  for (const key in value) {
    const found = halfCharacter((value as Record<string, unknown>)[key], '', depth + 1);
    if (found) return { ...found, pointer: `${at}/${escapeStep(key)}${found.pointer === '/' ? '' : found.pointer}` };
  }
  return undefined;
}

const escapeStep = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
