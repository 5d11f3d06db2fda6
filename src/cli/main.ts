#!/usr/bin/env node
import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../platform/config';
import { sqlState } from '../platform/database';
import { AppError, messageOf } from '../platform/errors';
import { asyncapiCommand } from './asyncapi.command';
import { auditCommand } from './audit.command';
import { channelsCommand } from './channels.command';
import { configCommand } from './config.command';
import { oneLine } from './context';
import { contractsCommand } from './contracts.command';
import { deadLettersCommand } from './dead-letters.command';
import { exitCodeOf } from './exit-code';
import { keyCommand } from './key.command';
import { migrateCommand } from './migrate.command';
import { ordersCommand } from './orders.command';
import { outboxCommand } from './outbox.command';
import { parkedCommand } from './parked.command';
import { partnerCommand } from './partner.command';
import { replaysCommand } from './replays.command';

const EXAMPLES = `Examples:
  parley migrate
  parley partner add acme --name "Acme Ltd"
  export PARLEY_API_KEY=$(parley key create --name me --role operator)
  parley orders show 4500017
  parley dead-letters list --groups
  parley dead-letters replay 4711
  parley outbox status
`;

/** 0 ok · 1 failed · 2 usage · 3 partly failed · 4 plan changed · 5 not allowed · 130 interrupted. */
async function run(): Promise<number> {
  const program = new Command('parley')
    .description('Exchange business documents with partners over Kafka.')
    .addHelpText('before', EXAMPLES)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  for (const command of [
    migrateCommand(),
    partnerCommand(),
    keyCommand(),
    auditCommand(),
    ordersCommand(),
    deadLettersCommand(),
    replaysCommand(),
    parkedCommand(),
    outboxCommand(),
    channelsCommand(),
    contractsCommand(),
    asyncapiCommand(),
    configCommand(),
  ])
    program.addCommand(overridden(command));
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
  if (error instanceof ConfigError) return error.message;
  const cause =
    error instanceof Error && error.cause !== undefined ? `\nCause: ${oneLine(messageOf(error.cause))}` : '';
  const hint = nextOf(error);
  return `parley: ${oneLine(messageOf(error))}${cause}${hint ? `\n${hint}` : ''}`;
}

function nextOf(error: unknown): string | undefined {
  if (error instanceof AppError) return error.hint;
  return sqlState(error) === '42P01' ? 'The schema is not there yet: run "parley migrate" first.' : undefined;
}

/** Who reads only the beginning (`| head`) doesn't end the work, nor make it look failed. */
function unread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

process.stdout.on('error', unread);
process.stderr.on('error', unread);
process.once('SIGINT', () => process.exit(130));
void run().then((code) => process.exit(code));
