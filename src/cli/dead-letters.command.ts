import { Command, InvalidArgumentError, Option } from 'commander';
import { editDeadLetter } from './dead-letters/edit';
import { assignGroup, noteGroup } from './dead-letters/group';
import { listDeadLetters } from './dead-letters/list';
import { decideEdit, discardDeadLetters, restoreDeadLetter } from './dead-letters/mend';
import { replayDeadLetters } from './dead-letters/replay';
import { selecting } from './dead-letters/selection';
import { showDeadLetter } from './dead-letters/show';
import { examples, instant, parkedIds, reason, text, wholeUpTo, withJson, withLimit, withUnmask } from './options';
import { asking } from './terminal/consent';

const oneId = (raw: string): string => parkedIds(raw)[0] ?? raw;

const note = (raw: string): string => {
  if (/^(?:[^\p{Cc}\p{Cs}]|[\n\r\t]){1,4000}$/u.test(raw)) return raw;
  throw new InvalidArgumentError('text of 1 to 4000 characters');
};

export function deadLettersCommand(): Command {
  const letters = examples(
    new Command('dead-letters').description('Messages of partners that could not be applied: find, mend, replay them.'),
    'parley dead-letters list --groups',
    'parley dead-letters list --partner acme --since 1d',
    'parley dead-letters show 4711',
    'parley dead-letters show 4711 --unmask --reason "acme asks which driver"',
    'parley dead-letters edit 4711 --reason "decimal comma"',
    'parley dead-letters replay 4711',
    'parley dead-letters replay --group 9f86d081884c7d65 --pace 50 --reason "acme has mended its prices"',
    'parley dead-letters discard 4711 4712 --reason "acme sent them twice"',
  );
  reading(letters);
  replaying(letters);
  mending(letters);
  grouping(letters);
  return letters;
}

function reading(letters: Command): void {
  withJson(withLimit(selecting(letters.command('list'))))
    .description('Dead letters, newest first, or grouped by cause.')
    .option('--groups', 'by cause: how many, of whom, since when, who works on it', false)
    .addOption(
      new Option('--state <state>', 'open: somebody has to do something (default)').choices([
        'open',
        'resolved',
        'all',
      ]),
    )
    .action(listDeadLetters);
  withUnmask(withJson(letters.command('show')))
    .description("A message: its document with what is wrong in it, its attempts, and its order's timeline.")
    .argument('<id>', 'of the message', oneId)
    .addOption(
      new Option('--raw <file>', 'write the bytes of its value to a file (- is standard output)').conflicts('json'),
    )
    .action(showDeadLetter);
}

function replaying(letters: Command): void {
  asking(withJson(selecting(letters.command('replay'))))
    .description(
      'Apply messages again. Says what would happen, asks, and stays until all have their end. Exit 3 when some failed again, 4 when the plan changed meanwhile; Ctrl-C leaves it running.',
    )
    .argument('[ids...]', 'of messages', parkedIds)
    .option('--until <time>', 'that failed last before that', instant)
    .option('--all', 'every dead letter', false)
    .option('--pace <n>', 'at most so many a second (default: as fast as it goes)', wholeUpTo(10_000))
    .option('--include-skipped', 'also those that would be skipped: the order is closed, say', false)
    .addOption(reason('why; kept in the audit. Asked for where it is missing'))
    .option('--plan', 'only freeze and say what would happen; "parley replays start" starts exactly that', false)
    .option('--detach', 'start it and do not wait', false)
    .action(replayDeadLetters);
}

function mending(letters: Command): void {
  asking(withJson(letters.command('edit')))
    .description(
      'Mend the document in $EDITOR; it is applied in its place by the next replay. Exit 4 when somebody changed the message meanwhile.',
    )
    .argument('<id>', 'of the message', oneId)
    .option('--document <file>', 'the whole document as JSON, in place of the editor (- is standard input)')
    .addOption(reason('why; kept in the audit. Asked for where it is missing'))
    .option('--unmask', 'with its personal data, for that reason; without it, masks stand for what they hide', false)
    .action(editDeadLetter);
  for (const verdict of ['approve', 'refuse'] as const)
    withJson(letters.command(verdict))
      .description(
        verdict === 'approve' ? "Agree to somebody else's edit." : "Say no to somebody's edit; the message stays.",
      )
      .argument('<id>', 'of the message', oneId)
      .argument('[edit]', 'of the edit (default: the one that waits)', oneId)
      .addOption(reason())
      .action((id: string, edit: string | undefined, options: { reason?: string; json: boolean }) =>
        decideEdit(verdict, id, edit, options),
      );
  asking(withJson(letters.command('discard')))
    .description('Give messages up; what waits behind them follows. Exit 3 when some could not be.')
    .argument('<ids...>', 'of messages', parkedIds)
    .addOption(reason().makeOptionMandatory())
    .action(discardDeadLetters);
  withJson(letters.command('restore'))
    .description('Make a dead letter again of what was discarded.')
    .argument('<id>', 'of the message', oneId)
    .addOption(reason().makeOptionMandatory())
    .action(restoreDeadLetter);
}

function grouping(letters: Command): void {
  withJson(letters.command('assign <group>'))
    .description('Say who works on a cause.')
    .addOption(new Option('--to <name>', 'who').argParser(text))
    .addOption(new Option('--nobody', 'nobody any more').conflicts('to'))
    .action(oneOf('--to NAME or --nobody', ({ to, nobody }) => to ?? nobody, assignGroup));
  withJson(letters.command('note <group>'))
    .description('Leave a note on a cause, for colleagues.')
    .addOption(new Option('--text <text>', 'the note (- is standard input)').argParser(note))
    .addOption(new Option('--clear', 'take the note away').conflicts('text'))
    .action(oneOf('--text TEXT or --clear', ({ text: said, clear }) => said ?? clear, noteGroup));
}

interface GroupOptions {
  to?: string;
  nobody?: boolean;
  text?: string;
  clear?: boolean;
  json: boolean;
}

/** Nothing is taken away because an option was forgotten. */
const oneOf =
  (
    what: string,
    said: (options: GroupOptions) => unknown,
    work: (group: string, options: GroupOptions) => Promise<void>,
  ) =>
  (group: string, options: GroupOptions, command: Command): Promise<void> => {
    if (said(options) === undefined) command.error(`parley: Say ${what}.`);
    return work(group, options);
  };
