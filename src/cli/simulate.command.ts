import { Command } from 'commander';
import { PROGRAMS, processTerminal, UsageError } from '../simulator';
import { examples } from './options';

/** Programs that also run without the rest of Parley; they read their options themselves, and say them with --help. */
export function simulateCommand(): Command {
  const simulate = examples(
    new Command('simulate').description('Play one side, to try the other.'),
    'parley simulate partner --brokers localhost:9092 --partner acme=json',
    'parley simulate company acme --brokers localhost:9092 --format json --scenario cancel --orders 3',
    'parley simulate company --help',
  ).enablePositionalOptions();
  simulate.addCommand(passingOn('partner', 'Play partners: answer orders, despatch, read receipts and error reports.'));
  simulate.addCommand(
    passingOn('company', "Play us towards a partner's system: order, cancel, judge what comes back."),
  );
  return simulate;
}

function passingOn(name: 'partner' | 'company', description: string): Command {
  return ownOptions(new Command(name).description(description)).action((args: string[]) =>
    endingWith(() => PROGRAMS[name](args, terminal())),
  );
}

/** A command that gets everything behind its name as it stands. */
export const ownOptions = (command: Command): Command =>
  command.argument('[options...]').helpOption(false).allowUnknownOption().passThroughOptions();

export function terminal(): ReturnType<typeof processTerminal> {
  // These end in order: offsets committed, the group left.
  process.removeAllListeners('SIGINT');
  return processTerminal('parley');
}

/** Sets the exit code; 2 and the text where the options are wrong. */
export async function endingWith(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
