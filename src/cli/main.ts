#!/usr/bin/env node
import '../platform/node-version';
import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { AppError, messageOf } from '../platform/errors';
import { oneLine } from './output';
import { exitCodeOf, sqlStateOf } from './exit-code';

const EXAMPLES = `Examples:
  parley migrate
  parley partner add acme --name "Acme Ltd"
  export PARLEY_API_KEY=$(parley key create --name me --role operator)
  parley orders show 4500017
  parley dead-letters list --groups
  parley dead-letters replay 4711
  parley notifications list --order 4500017
  parley outbox status
`;

/** Each loads what it needs: most speak to the API, and database and Kafka take a second to load. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  migrate: async () => (await import('./migrate.command.js')).migrateCommand(),
  partner: async () => (await import('./partner.command.js')).partnerCommand(),
  key: async () => (await import('./key.command.js')).keyCommand(),
  audit: async () => (await import('./audit.command.js')).auditCommand(),
  orders: async () => (await import('./orders.command.js')).ordersCommand(),
  'dead-letters': async () => (await import('./dead-letters.command.js')).deadLettersCommand(),
  replays: async () => (await import('./replays.command.js')).replaysCommand(),
  parked: async () => (await import('./parked.command.js')).parkedCommand(),
  notifications: async () => (await import('./notifications.command.js')).notificationsCommand(),
  outbox: async () => (await import('./outbox.command.js')).outboxCommand(),
  channels: async () => (await import('./channels.command.js')).channelsCommand(),
  contracts: async () => (await import('./contracts.command.js')).contractsCommand(),
  asyncapi: async () => (await import('./asyncapi.command.js')).asyncapiCommand(),
  simulate: async () => (await import('./simulate.command.js')).simulateCommand(),
  certify: async () => (await import('./certify.command.js')).certifyCommand(),
  config: async () => (await import('./config.command.js')).configCommand(),
};

/** The command that is named first; all of them for help, or for what is no command. */
function wanted(first: string | undefined): readonly (() => Promise<Command>)[] {
  const one = first !== undefined && Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return one ? [one] : Object.values(COMMANDS);
}

/** 0 ok · 1 failed · 2 usage · 3 partly failed · 4 plan changed · 5 not allowed · 130 interrupted. */
async function run(): Promise<number> {
  const program = new Command('parley')
    .description('Exchange business documents with partners over Kafka.')
    .addHelpText('before', EXAMPLES)
    .exitOverride()
    // Some commands pass on what stands behind their name.
    .enablePositionalOptions()
    .showHelpAfterError('See: parley --help')
    .configureHelp({ showGlobalOptions: true });
  for (const load of wanted(process.argv[2])) program.addCommand(prepared(await load(), 'parley'));
  try {
    await program.parseAsync();
    // A command that has its result and failed all the same says so itself.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`${await explain(error)}\n`);
    return exitCodeOf(error);
  }
}

/**
 * A command of a group takes over nothing that the group is told later: left alone it would end the process with 1. What is
 * used wrongly names the help of the very command.
 */
function prepared(command: Command, within: string): Command {
  const path = `${within} ${command.name()}`;
  command.commands.forEach((inner) => prepared(inner, path));
  return command.exitOverride().showHelpAfterError(`See: ${path} --help`);
}

/** One sentence, the cause, what to do next. */
async function explain(error: unknown): Promise<string> {
  if (error instanceof Error && error.name === 'ConfigError') return error.message;
  const what = oneLine(messageOf(error));
  // Its first line is the reason; behind it stands an excerpt of what was read, say.
  const [reason = ''] =
    error instanceof Error && error.cause !== undefined ? messageOf(error.cause).split('\n', 1) : [];
  const cause = what.includes(oneLine(reason)) ? '' : `\nCause: ${oneLine(reason)}`;
  const hint = await nextOf(error);
  return `parley: ${what}${cause}${hint ? `\n${hint}` : ''}`;
}

/** What a code has no hint for at the place where it is thrown, its page says. */
async function nextOf(error: unknown): Promise<string | undefined> {
  if (error instanceof AppError) {
    const { PROBLEM_CODES } = await import('../platform/http/index.js');
    return error.hint ?? (Object.hasOwn(PROBLEM_CODES, error.code) ? PROBLEM_CODES[error.code]?.help : undefined);
  }
  return sqlStateOf(error) === '42P01' ? 'The schema is not there yet: run "parley migrate" first.' : undefined;
}

/** Who reads only the beginning (`| head`) doesn't end the work, nor make it look failed. */
function unread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

process.stdout.on('error', unread);
process.stderr.on('error', unread);
process.once('SIGINT', () => process.exit(130));
void run().then((code) => process.exit(code));
