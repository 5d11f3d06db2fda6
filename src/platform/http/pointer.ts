import type { ValidationError } from 'class-validator';
import type { Violation } from '../errors';
import { step } from '../json';

/** Most violations that one answer lists: enough to mend a form, too few to make an answer expensive. */
export const MAX_VIOLATIONS = 100;

/** The violations of a class-validator result, depth first, in the order of the rules. */
export function violationsOf(errors: readonly ValidationError[], at: string, join = step): Violation[] {
  const found: Violation[] = [];
  for (const error of errors) {
    const pointer = join(at, error.property);
    found.push(...details(error).map((detail) => ({ pointer, detail })));
    found.push(...violationsOf(error.children ?? [], pointer, join));
    if (found.length >= MAX_VIOLATIONS) break;
  }
  return found.slice(0, MAX_VIOLATIONS);
}

/** A member that is missing breaks every rule of its type; one sentence says it all. */
function details({ value, constraints }: ValidationError): string[] {
  if (constraints === undefined) return [];
  if ('whitelistValidation' in constraints) return ['is not a member that exists here'];
  // Several rules of a member may say the same: that is said once.
  const broken = [...new Set(Object.values(constraints))];
  return value === undefined ? [`is missing; it ${broken[0]}`] : broken;
}
