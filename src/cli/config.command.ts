import { Command } from 'commander';
import { envExample, KEYS, loadConfig, secretFilesOf } from '../platform/config';
import { examples } from './options';

export function configCommand(): Command {
  const config = examples(
    new Command('config').description('Look at the configuration.'),
    'parley config print',
    'parley config example > .env.example',
  );
  config
    .command('print')
    .description(
      'Print the values that this environment gives, secrets redacted; exit 1 with all faults if it has any.',
    )
    .action(() => {
      const values = loadConfig();
      const files = new Map(secretFilesOf(values).map(({ env, path }) => [env, path]));
      for (const [name, key] of Object.entries(KEYS)) {
        const value = values[name as keyof typeof values];
        const file = files.get(key.env);
        const redacted = file === undefined ? '[redacted]' : `[redacted, from ${file}]`;
        // A list as it was written, so that it can be copied.
        const shown = Array.isArray(value) ? process.env[key.env]?.trim() || key.fallback : String(value);
        process.stdout.write(`${key.env}=${'secret' in key && value !== '' ? redacted : shown}\n`);
      }
    });
  config
    .command('example')
    .description('Print .env.example: every key with its unit, default and reason.')
    .action(() => void process.stdout.write(envExample()));
  return config;
}
