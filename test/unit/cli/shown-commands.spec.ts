import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { asyncapiCommand } from '../../../src/cli/asyncapi.command';
import { auditCommand } from '../../../src/cli/audit.command';
import { channelsCommand } from '../../../src/cli/channels.command';
import { configCommand } from '../../../src/cli/config.command';
import { contractsCommand } from '../../../src/cli/contracts.command';
import { deadLettersCommand } from '../../../src/cli/dead-letters.command';
import { keyCommand } from '../../../src/cli/key.command';
import { migrateCommand } from '../../../src/cli/migrate.command';
import { notificationsCommand } from '../../../src/cli/notifications.command';
import { ordersCommand } from '../../../src/cli/orders.command';
import { outboxCommand } from '../../../src/cli/outbox.command';
import { parkedCommand } from '../../../src/cli/parked.command';
import { addCommand } from '../../../src/cli/partner/add';
import { kitCommand } from '../../../src/cli/partner/kit';
import { listCommand } from '../../../src/cli/partner/list';
import { onboardCommand } from '../../../src/cli/partner/onboard';
import { retireCommand } from '../../../src/cli/partner/retire';
import { rotateCommand } from '../../../src/cli/partner/rotate';
import { showCommand } from '../../../src/cli/partner/show';
import { stateCommand } from '../../../src/cli/partner/state';
import { replaysCommand } from '../../../src/cli/replays.command';

const ROOT = join(__dirname, '..', '..', '..');
/** Loaded by its verb when it is run. */
const partner = [
  onboardCommand(),
  addCommand(),
  listCommand(),
  showCommand(),
  rotateCommand(),
  retireCommand(),
  kitCommand(),
]
  .concat((['pause', 'suspend', 'resume'] as const).map(stateCommand))
  .reduce((group, verb) => group.addCommand(verb), new Command('partner'));
/** `certify` and `simulate` pass their options on, to programs that have help of their own. */
const commands: Command[] = [
  ...[asyncapiCommand(), auditCommand(), channelsCommand(), configCommand(), contractsCommand(), deadLettersCommand()],
  ...[keyCommand(), migrateCommand(), notificationsCommand(), ordersCommand(), outboxCommand(), parkedCommand()],
  ...[replaysCommand(), partner],
];
const nameOf = (command: Command): string => command.name();

/** Everything that begins as a command does, up to what ends one in a shell, in Markdown or in a sentence. */
const SHOWN =
  /(?<![\w./-])(?:npm run (?:--silent )?)?parley (?:-- )?([a-z][a-z-]+(?:[^\S\n]+(?:"[^"\n]*"|<[^>\n]*>|[^\s`"|#…()]+))*)/g;

interface Shown {
  command: string;
  words: string[];
}

function shownIn(text: string): Shown[] {
  return [...text.matchAll(SHOWN)]
    .map(([command, rest = '']) => ({ command, words: rest.match(/"[^"]*"|<[^>]*>|\S+/g) ?? [] }))
    .filter(({ words: [name = ''] }) => [...commands.map(nameOf), 'certify', 'simulate'].includes(name));
}

/** Why nobody could run it: a command or an option that does not exist. */
function wrongIn({ words: [name = '', ...rest] }: Shown): string | undefined {
  const named = commands.find((one) => one.name() === name);
  if (!named) return undefined;
  let command: Command = named;
  while (command.commands.length > 0 && rest.length > 0) {
    const next: string = rest[0]?.replace(/[,.;:]+$/, '') ?? '';
    const inner: Command | undefined = command.commands.find((one) => one.name() === next);
    if (!inner) return command.registeredArguments.length > 0 ? undefined : `${command.name()} has no command ${next}`;
    command = inner;
    rest = rest.slice(1);
  }
  const known = ['--help', ...command.options.map(({ long }) => long)];
  const options = rest.flatMap((word) => /^(--[a-z][a-z-]*)/.exec(word)?.[1] ?? []);
  const unknown = options.find((option) => !known.includes(option));
  return unknown && `${command.name()} has no option ${unknown}`;
}

const files = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', '.env.example'].concat(
  ...['docs', 'docs/notifications', 'docs/partners', 'src/platform/http'].map((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => /\.(md|yaml|ts)$/.test(name))
      .map((name) => `${folder}/${name}`),
  ),
);

/** Also nothing that the command must be told is left out: an error's next command is copied as it stands. */
function lackingIn(shown: Shown): string | undefined {
  const wrong = wrongIn(shown);
  const named = commands.find((one) => one.name() === shown.words[0]);
  if (wrong !== undefined || !named) return wrong;
  let command: Command = named;
  let rest = shown.words.slice(1);
  for (let inner; (inner = command.commands.find((one) => one.name() === rest[0])); rest = rest.slice(1))
    command = inner;
  const takesValue = (word: string) => command.options.some(({ long, required }) => required && long === word);
  const operands = rest.filter((word, at) => !word.startsWith('-') && !takesValue(rest[at - 1] ?? ''));
  const lacking = command.registeredArguments.filter(({ required }) => required)[operands.length];
  return lacking && `${command.name()} lacks <${lacking.name()}>`;
}

/** Where errors and log lines about accounts are worded. */
const worded = ['src/partners/partition-check.ts'].concat(
  ...['src/partners/accounts', 'src/cli/partner'].map((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
);
const withoutComments = (text: string): string => text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, '');

const helpOf = (command: Command): string => {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  return help + command.commands.map(helpOf).join('');
};

describe('a command that is shown', () => {
  it.each(files)('exists with its options: %s', (file) => {
    const wrong = shownIn(readFileSync(join(ROOT, file), 'utf8')).flatMap((shown) => {
      const why = wrongIn(shown);
      return why ? [`${shown.command}: ${why}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('exists in the help of every command', () => {
    expect(commands.flatMap((command) => shownIn(helpOf(command)).flatMap((shown) => wrongIn(shown) ?? []))).toEqual(
      [],
    );
  });

  it.each(worded)('can be run as an error says it: %s', (file) => {
    const text = withoutComments(readFileSync(join(ROOT, file), 'utf8'));
    const wrong = shownIn(text).flatMap((shown) => {
      const why = lackingIn(shown);
      return why ? [`${shown.command}: ${why}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('is found and judged in each of its forms', () => {
    const text =
      'npm run parley -- key creat --name me\n`parley orders show 4711 --unmsk` parley key create --name me --role admin # x';
    expect(shownIn(text).map(wrongIn)).toEqual(['key has no command creat', 'show has no option --unmsk', undefined]);
  });

  it('lacks what it must be told when only an option has a value', () => {
    const text = '`parley partner rotate --retire-now acme.1` `parley partner rotate acme --disable "CN=acme, O=Acme"`';
    expect(shownIn(text).map(lackingIn)).toEqual(['rotate lacks <id>', undefined]);
  });
});
