import type { Command } from 'commander';
import { AppError } from '../../platform/errors';
import { answered, confirmed, isTerminal } from '../confirm';
import { hint } from '../output';

export interface Consent {
  /** --yes: do not ask. */
  yes: boolean;
  /** --no-input: ask nothing, as without a terminal. */
  input: boolean;
}

/** Adds --yes and --no-input. */
export const asking = (command: Command): Command =>
  command.option('--yes', 'do not ask', false).option('--no-input', 'never ask; what is missing is an error');

/** Is there somebody to ask, and may they be? */
export const canAsk = ({ input }: Pick<Consent, 'input'>): boolean => input && isTerminal();

/**
 * Shows what would happen and asks whether it may. Throws `not-confirmed` for a no; ends with the code for wrong use (2) where nobody
 * can be asked and nobody has said --yes.
 */
export async function agreed(
  { plan, question, refused = 'Nothing is changed.' }: { plan: readonly string[]; question: string; refused?: string },
  consent: Consent,
  command: Command,
): Promise<void> {
  plan.forEach(hint);
  if (consent.yes) return;
  if (!canAsk(consent)) command.error(`parley: ${refused} Without a terminal to ask on, say --yes.`);
  if (!(await confirmed(question))) throw new AppError('not-confirmed', refused);
}

/** The reason that was given, or that somebody is asked for. */
export async function reasonFor(reason: string | undefined, consent: Consent, command: Command): Promise<string> {
  if (reason !== undefined) return reason;
  if (!canAsk(consent)) command.error('parley: Say why, for the audit: --reason "acme has mended its prices".');
  const said = (await answered('Why (kept in the audit): '))?.trim();
  if (!said) throw new AppError('not-confirmed', 'Nothing is changed: no reason is given.');
  return said;
}
