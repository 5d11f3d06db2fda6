#!/usr/bin/env node
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
    .configureHelp({ showGlobalOptions: true });
  for (const load of wanted(process.argv[2])) program.addCommand(overridden(await load()));
  try {
    await program.parseAsync();
    // A command that has its result and failed all the same says so itself.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`${explain(error)}\n`);
    return exitCodeOf(error);
  }
}

/** A command of a group takes over nothing that the group is told later: left alone it would end the process with 1. */
function overridden(command: Command): Command {
  command.commands.forEach(overridden);
  return command.exitOverride();
}

/** One sentence, the cause, what to do next. */
function explain(error: unknown): string {
  if (error instanceof Error && error.name === 'ConfigError') return error.message;
  const cause =
    error instanceof Error && error.cause !== undefined ? `\nCause: ${oneLine(messageOf(error.cause))}` : '';
  const hint = nextOf(error);
  return `parley: ${oneLine(messageOf(error))}${cause}${hint ? `\n${hint}` : ''}`;
}

function nextOf(error: unknown): string | undefined {
  if (error instanceof AppError) return error.hint;
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
