import { Command, Option } from 'commander';
import { FORMATS, type Format } from '../../contracts';
import { type Applied, type PartnerSpec, specOf, specOfPartner, withOnboarder } from '../../partners';
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

async function add(id: string, options: AddOptions, command: Command): Promise<void> {
  const { json } = options;
  await withDatabase(async (database, config) => {
    const before = await specOfPartner(database, id);
    const spec = specOf({ ...before, partner: id, ...said(options, command, before) }, config);
    if (config.kafkaSaslMechanism === '' && !json) hint(WITHOUT_ACCOUNTS);
    await withOnboarder({ database, config, clock: systemClock }, async (onboarder) => {
      const tell = (made: Applied) => tellResult(made, { json });
      const applied = await onboarder.apply(spec, staffCaller(), { tell });
      if (!applied.account) await tellResult(applied, { json });
    });
  });
}

/** What was onboarded stays as its file said: of the options only those that somebody gave count then, not their defaults. */
function said(options: AddOptions, command: Command, before: PartnerSpec | undefined): Partial<AddOptions> {
  const members = ['name', 'partitions', 'format', 'allowMissingId'] as const;
  const counting = members.filter(
    (member) => options[member] !== undefined && (!before || command.getOptionValueSource(member) === 'cli'),
  );
  return Object.fromEntries(counting.map((member) => [member, options[member]]));
}
