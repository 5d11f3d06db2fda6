import { type Command, InvalidArgumentError, Option } from 'commander';
import { PARTNER_ID_PATTERN } from '../contracts';
import { systemClock } from '../platform/clock';
import { duration } from './duration';

// Options that several commands have.

const PARTNER_ID = new RegExp(PARTNER_ID_PATTERN);

export const partnerId = (raw: string): string => {
  if (PARTNER_ID.test(raw)) return raw;
  throw new InvalidArgumentError('a lower-case letter, then up to 31 lower-case letters, digits or dashes');
};

/** Id of a message, as it was shown; of a list of them the next. */
export const parkedIds = (raw: string, before: string[] = []): string[] => {
  if (/^[1-9]\d{0,17}$/.test(raw)) return [...before, raw];
  throw new InvalidArgumentError('ids as "parley dead-letters list" shows them, such as 4711');
};

export const wholeUpTo =
  (most: number) =>
  (raw: string): number => {
    if (/^\d{1,6}$/.test(raw) && +raw >= 1 && +raw <= most) return +raw;
    throw new InvalidArgumentError(`a whole number from 1 to ${most}`);
  };

/** `7d`, `12h`, `30m` before now, or a time (RFC 3339); as RFC 3339. */
export const instant = (raw: string): string => {
  if (/^\d{4}-\d{2}-\d{2}T/.test(raw)) {
    if (!Number.isNaN(Date.parse(raw))) return raw;
  } else if (/^\d+[mhd]$/.test(raw)) return new Date(systemClock.now().getTime() - duration(raw)).toISOString();
  throw new InvalidArgumentError('how long ago, such as 30m, 12h or 7d, or a time such as 2026-02-03T04:05:06Z');
};

export const text = (raw: string): string => {
  if (/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,500}$/u.test(raw)) return raw;
  throw new InvalidArgumentError('1 to 500 printable characters');
};

export const withJson = (command: Command): Command => command.option('--json', 'machine-readable result', false);
export const withLimit = (command: Command): Command =>
  command.option('--limit <n>', 'most that are shown', wholeUpTo(9999), 50);
export const reason = (description = 'why; kept in the audit'): Option =>
  new Option('--reason <text>', description).argParser(text);

const withExamples = new WeakSet<Command>();

/** Examples come first in --help, also in that of the commands of a group which have none of their own. */
export function examples(command: Command, ...lines: readonly string[]): Command {
  withExamples.add(command);
  const text = `Examples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
  return command.addHelpText('beforeAll', ({ command: shown }) => (nearest(shown) === command ? text : ''));
}

const nearest = (command: Command | null): Command | null =>
  command === null || withExamples.has(command) ? command : nearest(command.parent);

/** `--unmask` shows personal data, and takes a reason for it; {@link unmaskReason} reads both. */
export const withUnmask = (command: Command): Command =>
  command
    .option('--unmask', 'with its personal data; takes a --reason, which the audit keeps', false)
    .addOption(reason('why it has to be seen'));

/** Why personal data is to be shown; undefined: it is not. */
export function unmaskReason(
  { unmask, reason: why }: { unmask: boolean; reason?: string },
  command: Command,
): string | undefined {
  if (unmask && why === undefined)
    command.error('parley: --unmask takes a --reason: the audit keeps who saw it, and why.');
  if (!unmask && why !== undefined)
    command.error('parley: --reason says why something is unmasked: it takes --unmask.');
  return why;
}

export const hostAndPort = (raw: string): string => {
  if (!/^[^\s:,/@]+:\d{1,5}$/.test(raw)) throw new InvalidArgumentError('host:port, without credentials');
  return raw;
};

export const plainUrl = (raw: string): string => {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new InvalidArgumentError('a URL like https://registry.example.com, without credentials');
  return raw;
};
