import { chosen } from './programs';
import { processTerminal } from './terminal';
import { UsageError } from './usage';

// What the partner's kit ships: it stands on the contracts and the registry's client alone.

const terminal = processTerminal('simulator');
const { program, args } = chosen(process.argv.slice(2));

void program(args, terminal).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(2);
    }
    terminal.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  },
);
