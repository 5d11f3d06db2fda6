import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type Applied,
  type Onboarder,
  parsePartnerFile,
  type PartnerSpec,
  specOf,
  viewOf,
  withOnboarder,
} from '../../partners';
import { systemClock } from '../../platform/clock';
import { withDatabase } from '../context';
import { textOf } from '../input-file';
import { examples, partnerId, withJson } from '../options';
import { hint, print } from '../output';
import { staffCaller } from '../staff-caller';
import { agreed, asking, type Consent } from '../terminal/consent';
import { emitStrimzi } from './emit-strimzi';
import { tellResult } from './onboarding-result';
import { planLines } from './plan-lines';

interface OnboardOptions extends Consent {
  file: string;
  plan: boolean;
  apply: boolean;
  planId?: string;
  allowDelete: boolean;
  emit?: 'strimzi';
  cluster: string;
  json: boolean;
}

export function onboardCommand(): Command {
  const command = new Command('onboard')
    .argument('[id]', "must be the file's partner", partnerId)
    .description(
      "Make a partner what its file says: topics, account, rights, limits, schemas, channels. Shows the plan and asks. Again changes nothing; after a failure it goes on where it stopped. Needs the account of the broker's administrator (KAFKA_ADMIN_USERNAME).",
    )
    .requiredOption('--file <path>', 'YAML or JSON; - is standard input')
    .addOption(new Option('--plan', 'only say what would change').default(false).conflicts(['apply', 'planId']))
    .option('--apply', 'do it without asking', false)
    .option('--plan-id <id>', 'do it without asking if it is still this plan; exit 4 if not')
    .addOption(
      new Option(
        '--emit <form>',
        'print the topics and accounts as resources, to be applied by others; with --plan or --apply only our own rows are looked at or written',
      ).choices(['strimzi']),
    )
    .option('--cluster <name>', 'with --emit strimzi: name of the Kafka resource', resourceName, 'kafka')
    .option('--allow-delete', 'also take away rights that Parley gave and the file no longer asks for', false);
  return examples(
    asking(withJson(command)).action(onboard),
    'parley partner onboard acme --file acme.yaml --plan',
    'parley partner onboard acme --file acme.yaml --apply',
    'parley partner onboard acme --file acme.yaml --apply --plan-id 1f0c3a5d9e7b2468',
    'parley partner onboard acme --file acme.yaml --emit strimzi > acme.resources.yaml',
    'parley partner onboard acme --file acme.yaml --emit strimzi --apply      once these are there',
  );
}

async function onboard(id: string | undefined, options: OnboardOptions, command: Command): Promise<void> {
  const document = parsePartnerFile(await textOf(options.file, UNREADABLE));
  await withDatabase(async (database, config) => {
    const spec = specOf(document, config);
    if (id !== undefined && id !== spec.partner)
      command.error(`parley: The file is about the partner ${spec.partner}, not ${id}. Nothing is changed.`);
    const elsewhere = options.emit !== undefined;
    if (elsewhere && !options.plan && !options.apply && !options.planId)
      return emitStrimzi(database, config, spec, options);
    if (config.kafkaSaslMechanism === '') hint(WITHOUT_ACCOUNTS);
    await withOnboarder({ database, config, clock: systemClock, elsewhere }, async (onboarder) => {
      const { allowDelete } = options;
      if (options.plan) return showPlan(onboarder, spec, options);
      const planId = options.apply || options.planId ? options.planId : await asked(onboarder, spec, options, command);
      if (planId === NOTHING) return;
      const tell = (applied: Applied) => tellResult(applied, options);
      const applied = await onboarder.apply(spec, staffCaller(), { allowDelete, planId, tell });
      if (!applied.account) await tellResult(applied, options);
    });
  });
}

const UNREADABLE = {
  code: 'partner-file-unreadable',
  hint: 'docs/partners/acme.yaml is one that shows everything that can be said.',
};

export const WITHOUT_ACCOUNTS =
  'Without KAFKA_SASL_MECHANISM Parley makes topics and channels only, no accounts, rights and limits: what a client may do is between it and the broker.';

const NOTHING = '';

const resourceName = (raw: string): string => {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(raw)) return raw;
  throw new InvalidArgumentError('the name of a Kubernetes resource: lower-case letters, digits and dashes');
};

async function showPlan(onboarder: Onboarder, spec: PartnerSpec, options: OnboardOptions): Promise<void> {
  const view = viewOf(await onboarder.plan(spec, options));
  print(options.json, view, planLines(view));
  if (options.json || view.changes.length === 0) return;
  hint(`Next: the same with --apply --plan-id ${view.planId}`);
}

/** The id of the plan that was agreed to; {@link NOTHING} where there is nothing to agree to. */
async function asked(
  onboarder: Onboarder,
  spec: PartnerSpec,
  options: OnboardOptions,
  command: Command,
): Promise<string> {
  const view = viewOf(await onboarder.plan(spec, options));
  if (view.changes.length === 0) {
    print(options.json, { ...view, account: null }, planLines(view));
    return NOTHING;
  }
  await agreed({ plan: planLines(view), question: `Apply it to ${spec.partner}?` }, options, command);
  return view.planId;
}
