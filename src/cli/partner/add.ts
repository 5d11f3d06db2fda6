import { Command, Option } from 'commander';
import { FORMATS, type Format } from '../../contracts';
import { type Applied, specOf, withOnboarder } from '../../partners';
import { systemClock } from '../../platform/clock';
import { withDatabase } from '../context';
import { withJson, wholeUpTo } from '../options';
import { hint } from '../output';
import { staffCaller } from '../staff-caller';
import { WITHOUT_ACCOUNTS } from './onboard';
import { tellResult } from './onboarding-result';

interface AddOptions {
  name?: string;
  partitions: number;
  format: Format;
  allowMissingId: boolean;
  json: boolean;
}

export function addCommand(): Command {
  const command = new Command('add')
    .argument('<id>')
    .description(
      'The short form of onboard, for development: a partner with the defaults of its file and without a question. Again it only adds what is missing: after a failure, or for documents that are new since.',
    )
    .option('--name <name>', 'name for people (default: the id)')
    .option('--partitions <n>', "partitions of each topic, fixed for the topic's life", wholeUpTo(1000), 6)
    .addOption(
      new Option('--format <format>', 'how documents become bytes; all but json need a schema registry')
        .choices(FORMATS)
        .default('avro'),
    )
    .option('--allow-missing-id', 'identify records without ce_id by their place in the topic', false);
  return withJson(command).action(add);
}

async function add(id: string, { json, name, ...more }: AddOptions): Promise<void> {
  await withDatabase(async (database, config) => {
    const { partitions, format, allowMissingId } = more;
    const spec = specOf(
      { partner: id, ...(name === undefined ? {} : { name }), partitions, format, allowMissingId },
      config,
    );
    if (config.kafkaSaslMechanism === '' && !json) hint(WITHOUT_ACCOUNTS);
    await withOnboarder({ database, config, clock: systemClock }, async (onboarder) => {
      const tell = (made: Applied) => tellResult(made, { json });
      const applied = await onboarder.apply(spec, staffCaller(), { tell });
      if (!applied.account) await tellResult(applied, { json });
    });
  });
}
