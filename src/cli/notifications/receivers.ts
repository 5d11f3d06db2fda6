import { type Command, InvalidArgumentError, Option } from 'commander';
import { duration } from '../duration';
import { examples, reason, withJson, withLimit, withUnmask } from '../options';
import { asking } from '../terminal/consent';
import { listReceivers, showReceiver } from './receivers/read';
import { enableWebhook, removeReceiver, rotateSecret, setReceiver, testReceiver } from './receivers/write';
import { named } from './selection';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Whole hours up to a week, as the API takes them; 0: at once. */
export function hours(raw: string): number {
  const ms = raw === '0' ? 0 : duration(raw);
  if (ms % HOUR_MS === 0 && ms <= 7 * DAY_MS) return ms;
  throw new InvalidArgumentError('whole hours or days up to 7d, such as 24h; 0 ends the old one at once');
}

/** Who is told: a group of commands of its own. */
export function receiversOf(notifications: Command): void {
  const receivers = examples(
    notifications.command('receivers').description('People and systems that are told: addresses, quiet hours, kinds.'),
    'parley notifications receivers list',
    'parley notifications receivers set ops-desk --file ops-desk.yaml --plan',
    'parley notifications receivers set ops-desk --file ops-desk.yaml',
    'parley notifications receivers test ops-desk',
    'parley notifications receivers show ops-desk --yaml > ops-desk.yaml',
    'parley notifications receivers rotate-secret warehouse --old-valid-for 24h',
    'parley notifications receivers enable warehouse --reason "its certificate is renewed"',
  );
  withJson(withLimit(receivers.command('list')))
    .description('All receivers, how they are reached, and of what they are told.')
    .action(listReceivers);
  withUnmask(withJson(one(receivers, 'show')))
    .description('A receiver: its addresses (masked), quiet hours, kinds, and what is wrong with an address.')
    .addOption(
      new Option('--yaml', 'as a file for "set"; masks in it keep the addresses that are stored')
        .default(false)
        .conflicts('json'),
    )
    .action(showReceiver);
  changing(receivers);
  webhooks(receivers);
}

const one = (receivers: Command, verb: string): Command =>
  receivers.command(verb).argument('<id>', 'of the receiver', named);

function changing(receivers: Command): void {
  withJson(one(receivers, 'set'))
    .description(
      'Make a receiver what its file says, and tell the first secret of its webhook, once. Exit 4 when somebody changed it meanwhile.',
    )
    .requiredOption('--file <path>', 'YAML or JSON; - is standard input')
    .option('--plan', 'only say what would change', false)
    .action(setReceiver);
  asking(withJson(one(receivers, 'remove')))
    .description('Forget a receiver; what waits to be sent to it is cancelled. Asks.')
    .action(removeReceiver);
  withJson(one(receivers, 'test'))
    .description('Send a test message to each of its addresses, the way that all go.')
    .action(testReceiver);
}

function webhooks(receivers: Command): void {
  withJson(one(receivers, 'rotate-secret'))
    .description('Make another secret for its webhook, and tell it once; both sign for a while. For administrators.')
    .addOption(
      new Option('--old-valid-for <time>', 'how long the one before it signs, too, such as 24h; 0: not at all')
        .argParser(hours)
        .default(DAY_MS, '24h'),
    )
    .action(rotateSecret);
  withJson(one(receivers, 'enable'))
    .description('Send to its webhook again, after it was disabled for failing for days.')
    .addOption(reason('why; must be given, and is kept in the audit').makeOptionMandatory())
    .action(enableWebhook);
}
