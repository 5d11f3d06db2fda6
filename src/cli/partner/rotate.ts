import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type Account,
  type AccountTools,
  type IssuedAccount,
  OLD_VALID_FOR_MS,
  type RotationPlan,
  withAccounts,
} from '../../partners';
import { systemClock } from '../../platform/clock';
import { withDatabase } from '../context';
import { duration } from '../duration';
import { examples, partnerId, reason, withJson } from '../options';
import { hint, print, tell } from '../output';
import { staffCaller } from '../staff-caller';
import { agreed, asking, type Consent } from '../terminal/consent';
import { localTime } from '../terminal/words';
import { retireDue } from './retire';

const OTHER_DEEDS = ['retireNow', 'disable', 'enable'];
const OF_A_ROTATION = ['plan', 'oldValidFor', 'subject'];

interface RotateOptions extends Consent {
  oldValidFor: number;
  subject?: string;
  plan: boolean;
  retireNow?: string;
  disable?: string;
  enable?: string;
  reason?: string;
  json: boolean;
}

const subject = (raw: string): string => {
  if (/^[^\p{Cc}\p{Cs}*]{1,200}$/u.test(raw)) return raw;
  throw new InvalidArgumentError('1 to 200 printable characters without *');
};

export function rotateCommand(): Command {
  const without = (deed: string) => [...OTHER_DEEDS.filter((other) => other !== deed), ...OF_A_ROTATION];
  const command = new Command('rotate')
    .argument('<id>', 'the partner', partnerId)
    .description(
      "Make another account beside the one that a partner has, with the same rights and limits; both work until the old one ends. Shows what it does and asks. Needs the account of the broker's administrator (KAFKA_ADMIN_USERNAME).",
    )
    .addOption(
      new Option('--old-valid-for <time>', 'how long the replaced account works on, such as 14d or 12h')
        .argParser(duration)
        .default(OLD_VALID_FOR_MS, '14d'),
    )
    .option('--subject <name>', "for a partner with certificates of its own: the new one's subject", subject)
    .addOption(new Option('--plan', 'only say what would be made').default(false).conflicts(OTHER_DEEDS))
    .addOption(
      new Option('--retire-now <account>', 'end this account for good, before its date').conflicts(
        without('retireNow'),
      ),
    )
    .addOption(
      new Option(
        '--disable <account>',
        'take its rights away, reversibly: shows whether anybody still needs it',
      ).conflicts(without('disable')),
    )
    .addOption(new Option('--enable <account>', 'give its rights back').conflicts(without('enable')))
    .addOption(reason());
  return examples(
    asking(withJson(command)).action(run),
    'parley partner rotate acme --plan',
    'parley partner rotate acme --old-valid-for 7d --yes',
    'parley partner rotate acme --disable acme.1',
    'parley partner rotate acme --retire-now acme.1 --reason "acme has changed over"',
  );
}

function run(id: string, options: RotateOptions, command: Command): Promise<void> {
  return withDatabase((database, config) =>
    withAccounts({ database, config, clock: systemClock }, async (tools) => {
      const { retireNow, disable, enable } = options;
      if (retireNow !== undefined) return end(tools, id, retireNow, options, command);
      if (disable !== undefined) return shutOut(tools, id, disable, options, command);
      if (enable !== undefined) return letIn(tools, id, enable, options);
      return rotate(tools, id, options, command);
    }),
  );
}

async function rotate(tools: AccountTools, partner: string, options: RotateOptions, command: Command): Promise<void> {
  const { subject: named, oldValidFor: oldValidForMs, json } = options;
  const request = { partner, oldValidForMs, ...(named !== undefined && { subject: named }) };
  // What is due counts among those that are too many.
  if (!options.plan) await retireDue(tools, partner);
  const plan = await tools.rotation.plan(request);
  if (options.plan) return print(json, plan, planLines(plan));
  await agreed({ plan: planLines(plan), question: `Make ${plan.username}?` }, options, command);
  const seen = plan.replaces ? { replaces: plan.replaces.username } : {};
  await tools.rotation.rotate({ ...request, ...seen }, staffCaller(), (issued, made) =>
    tellSecret(issued, made, options),
  );
}

/** Resolves when the secret is written: only then does the account count. */
async function tellSecret(
  issued: IssuedAccount,
  { replaces, validUntil, partner }: RotationPlan,
  { json }: RotateOptions,
): Promise<void> {
  const { username, password = null } = issued;
  await tell(json, { username, password, validUntil, replaces }, [
    `account ${username}`,
    ...(password === null ? [] : [`password ${password}`]),
  ]);
  if (json) return;
  if (password !== null)
    hint('The password is shown this once and kept nowhere: hand it over on a way that only the partner reads.');
  hint(`Replace it before ${localTime(validUntil.toISOString())}.`);
  if (!replaces) return;
  hint(`${replaces.username} works until ${localTime(replaces.until.toISOString())}.`);
  hint(`Is it still needed? Try: parley partner rotate ${partner} --disable ${replaces.username}`);
}

function planLines({ username, kind, resumes, replaces, validUntil }: RotationPlan): string[] {
  return [
    resumes
      ? `~ account ${username} (${kind}): an attempt before was broken off; it gets another secret`
      : `+ account ${username} (${kind}), to be replaced before ${localTime(validUntil.toISOString())}`,
    '+ its rights and limits, as onboarding states them',
    ...(replaces ? [`~ account ${replaces.username}: ends ${localTime(replaces.until.toISOString())}`] : []),
  ];
}

async function end(
  { retirement }: AccountTools,
  partner: string,
  account: string,
  options: RotateOptions,
  command: Command,
): Promise<void> {
  const plan = [`- account ${account}: its rights, limits and user go at once and for good`];
  await agreed({ plan, question: `End ${account}?` }, options, command);
  report(await retirement.retire(partner, account, staffCaller(), options.reason), options);
  if (!options.json) hint('Connections that are open are refused each request, and end when they authenticate again.');
}

async function shutOut(
  { disabling }: AccountTools,
  partner: string,
  account: string,
  options: RotateOptions,
  command: Command,
): Promise<void> {
  const plan = [`~ account ${account}: may do nothing until it is enabled again`];
  await agreed({ plan, question: `Disable ${account}?` }, options, command);
  report(await disabling.disable(partner, account, staffCaller(), options.reason), options);
  if (!options.json)
    hint(`Whoever still uses it is refused from now on. Back: parley partner rotate ${partner} --enable ${account}`);
}

async function letIn(
  { disabling }: AccountTools,
  partner: string,
  account: string,
  options: RotateOptions,
): Promise<void> {
  report(await disabling.enable(partner, account, staffCaller(), options.reason), options);
}

function report(account: Account, { json }: RotateOptions): void {
  const { username, state, disabledAt } = account;
  print(json, account, [`${username}: ${state}${disabledAt ? ', disabled' : ''}`]);
}
