import { HELP, parseOptions, type SimulatorOptions, UsageError } from './options';
import { Partner } from './partner';

const say = (line: string) => process.stderr.write(`simulator: ${line}\n`);

function readOptions(): SimulatorOptions {
  try {
    const options = parseOptions(process.argv.slice(2), process.env);
    if (options) return options;
    process.stdout.write(HELP);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  const partner = new Partner(options, say, () =>
    process.stdout.write(
      `ready: plays ${options.parties.map(({ id, format }) => `${id} (${format})`).join(', ')} in group ${options.group}\n`,
    ),
  );
  let asked = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // The second signal does not wait.
      if (++asked > 1) process.exit(130);
      void partner.stop();
    });
  }
  await partner.run();
  process.stdout.write(`${JSON.stringify(partner.statistics)}\n`);
}

void main().catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
});
