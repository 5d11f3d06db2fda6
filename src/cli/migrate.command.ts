import { Command } from 'commander';
import { migrate, pendingMigrations } from '../platform/database';
import { withDatabase } from './context';
import { print } from './output';
import { examples } from './options';

/** No limit: a migration may wait for another process that migrates, or go through a large table. */
const UNHURRIED = { databaseStatementTimeout: 0 };

export function migrateCommand(): Command {
  return examples(new Command('migrate'), 'parley migrate --plan', 'parley migrate')
    .description(
      'Bring the schema to the version that this build expects. Safe to run twice, and from two places at once.',
    )
    .option('--plan', 'only say what would run', false)
    .option('--json', 'machine-readable result', false)
    .action(async (options: { plan: boolean; json: boolean }) => {
      await withDatabase(async ({ dataSource }) => {
        const names = options.plan ? await pendingMigrations(dataSource) : await migrate(dataSource);
        const verb = options.plan ? 'would run' : 'ran';
        print(
          options.json,
          { [options.plan ? 'pending' : 'ran']: names },
          names.length === 0 ? ['The schema is up to date.'] : names.map((name) => `${verb} ${name}`),
        );
      }, UNHURRIED);
    });
}
