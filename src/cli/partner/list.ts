import { Command } from 'commander';
import { Partners } from '../../partners';
import { withDatabase } from '../context';
import { withJson } from '../options';
import { hint, print } from '../output';

export function listCommand(): Command {
  return withJson(new Command('list').description('All partners.')).action(list);
}

async function list({ json }: { json: boolean }): Promise<void> {
  await withDatabase(async (database) => {
    const partners = await new Partners(database).list();
    print(
      json,
      partners,
      partners.map(({ id, name, state }) => `${id}\t${state}\t${name}`),
    );
    if (partners.length === 0 && !json) hint('No partners yet: parley partner add acme --name "Acme Ltd"');
  });
}
