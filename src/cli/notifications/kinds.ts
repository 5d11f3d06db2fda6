import type { Command } from 'commander';
import type { CrashPolicy, NotificationKind } from '../../notifications';
import { KINDS } from '../../notifications/kinds';
import { AppError } from '../../platform/errors';
import { withJson } from '../options';
import { hint, print } from '../output';
import { type Column, facts, table } from '../terminal/table';
import { length } from '../terminal/words';
import { named } from './selection';

/** What each policy means for whoever receives, in words. */
export const POLICY_WORDS: Readonly<Record<CrashPolicy, string>> = {
  repeat: 'sent again, rather twice than never',
  skip: 'given up, rather never than twice',
  'look-up': 'the provider is asked; where it cannot be, a person decides',
};

/** What a crash does to it; where that is another thing over a channel, that too. */
export const inDoubt = ({ crash, crashOver = {} }: Pick<NotificationKind, 'crash' | 'crashOver'>): string =>
  [
    `${crash}: ${POLICY_WORDS[crash]}`,
    ...Object.entries(crashOver).map(([channel, policy]) => `${policy} over ${channel}`),
  ].join('; ');

const FROM: Readonly<Record<NotificationKind['source'], { short: string; whole: string }>> = {
  event: { short: 'Parley', whole: 'Parley, to whoever subscribed' },
  request: { short: 'requests', whole: 'other systems, on notifications.request.v1' },
  staff: { short: 'staff', whole: 'staff: parley notifications receivers test RECEIVER' },
};

export function kindsOf(notifications: Command): void {
  withJson(notifications.command('kinds').argument('[name]', 'all that is known of one', named))
    .description('Everything that Parley may tell: over which channels, how patiently, and what a crash does to it.')
    .action(showKinds);
}

const COLUMNS: readonly Column<NotificationKind>[] = [
  { title: 'KIND', of: ({ name }) => name },
  { title: 'CHANNELS', of: ({ channels }) => channels.join(', ') },
  { title: 'EXPIRES AFTER', of: ({ expiresMs }) => length(expiresMs / 1000) },
  { title: 'ATTEMPTS', of: ({ retry }) => retry.attempts },
  { title: 'QUIET HOURS', of: ({ quietHours }) => (quietHours === 'respect' ? 'kept' : 'ignored') },
  { title: 'FROM', of: ({ source }) => FROM[source].short },
  { title: 'IN DOUBT WHETHER IT WENT OUT', of: (kind) => inDoubt(kind) },
];

function showKinds(name: string | undefined, { json }: { json: boolean }): void {
  if (name === undefined) {
    print(json, KINDS, table(COLUMNS, KINDS));
    if (!json) hint('Next: parley notifications kinds order-accepted');
    return;
  }
  const kind = KINDS.find((one) => one.name === name);
  if (!kind)
    throw new AppError('kind-unknown', `There is no kind of notification called ${name}.`, {
      hint: 'All of them: parley notifications kinds',
    });
  print(json, kind, kindLines(kind));
}

export function kindLines(kind: NotificationKind): string[] {
  const { retry, required, example, source } = kind;
  const optional = Object.keys(example).filter((member) => !required.includes(member));
  const pauses = `pauses from ${length(retry.initialMs / 1000)}, doubling up to ${length(retry.maxMs / 1000)}`;
  return facts([
    ['kind', kind.name],
    ['tells', kind.summary],
    ['comes from', FROM[source].whole],
    ['channels', kind.channels.join(', ')],
    ['attempts', `${retry.attempts}, ${pauses}`],
    ['expires', `${length(kind.expiresMs / 1000)} after it happened`],
    ['quiet hours', kind.quietHours === 'respect' ? 'waits for their end' : 'is sent all the same'],
    ['in doubt', inDoubt(kind)],
    ['secret', kind.secret ? 'yes: shown to nobody, and deleted when it is settled' : null],
    ['data', required.join(', ')],
    ['may have', optional.join(', ')],
    ['example', JSON.stringify(example)],
  ]);
}
