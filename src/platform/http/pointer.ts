import type { ValidationError } from 'class-validator';
import type { Violation } from '../errors';

/** One more step of a JSON Pointer (RFC 6901): `~` and `/` are escaped. */
export const step = (pointer: string, token: string | number): string =>
  `${pointer}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Most violations that one answer lists: enough to mend a form, too few to make an answer expensive. */
export const MAX_VIOLATIONS = 100;

/** The violations of a class-validator result, depth first, in the order of the rules. */
export function violationsOf(errors: readonly ValidationError[], at: string, join = step): Violation[] {
  const found: Violation[] = [];
  for (const error of errors) {
    const pointer = join(at, error.property);
    for (const [rule, message] of Object.entries(error.constraints ?? {})) {
      found.push({ pointer, detail: rule === 'whitelistValidation' ? 'is not a member that exists here' : message });
    }
    found.push(...violationsOf(error.children ?? [], pointer, join));
    if (found.length >= MAX_VIOLATIONS) break;
  }
  return found.slice(0, MAX_VIOLATIONS);
}
