import { certifyCommand } from './certification/certify-command';
import { companyCommand } from './company/company-command';
import { partnerCommand } from './partner-command';
import type { Terminal } from './terminal';

export type Program = (args: readonly string[], terminal: Terminal) => Promise<number>;

/** What can be run without anything of the company's but contracts and schemas. */
export const PROGRAMS: Readonly<Record<'partner' | 'company' | 'certify', Program>> = {
  partner: partnerCommand,
  company: companyCommand,
  certify: certifyCommand,
};

/** The program that is named first, else the partner. */
export function chosen([first = '', ...rest]: readonly string[]): { program: Program; args: readonly string[] } {
  return Object.hasOwn(PROGRAMS, first)
    ? { program: PROGRAMS[first as keyof typeof PROGRAMS], args: rest }
    : { program: partnerCommand, args: first === '' ? [] : [first, ...rest] };
}
