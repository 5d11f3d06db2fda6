import { Command, Option } from 'commander';
import type { ParkedDto, RetriedDto } from '../messaging/triage';
import { AppError } from '../platform/errors';
import { ApiClient } from './api-client';
import { bulk, printBulk } from './bulk';
import { hint, print } from './output';
import { list } from './listing';
import { examples, parkedIds, partnerId, reason, text, withJson, withLimit } from './options';
import { agreed, asking, type Consent } from './terminal/consent';
import type { Column } from './terminal/table';
import { counted, localTime } from './terminal/words';

interface ListOptions {
  partner?: string;
  order?: string;
  state?: string;
  limit: number;
  json: boolean;
}

interface RetryOptions extends Consent {
  partner?: string;
  order?: string;
  group?: string;
  all: boolean;
  reason?: string;
  json: boolean;
}

export function parkedCommand(): Command {
  const parked = examples(
    new Command('parked').description('Messages of partners that wait: for their next attempt, or behind another one.'),
    'parley parked list --partner acme',
    'parley parked retry 4711 4712',
    'parley parked retry --group 9f86d081884c7d65 --yes',
  );
  withJson(withLimit(parked.command('list')))
    .description('What waits, oldest first, and for what.')
    .option('--partner <id>', 'only of this partner', partnerId)
    .option('--order <number>', 'only of this order')
    .addOption(new Option('--state <state>', 'only those').choices(['waiting', 'held']))
    .action(listParked);
  asking(withJson(parked.command('retry')))
    .description('Try waiting messages now: named ones, or at most 1,000 that fit. Says how many, and asks.')
    .argument('[ids...]', 'of messages', parkedIds)
    .option('--partner <id>', 'those of this partner', partnerId)
    .option('--order <number>', 'those of this order')
    .option('--group <fingerprint>', 'those that failed last for this cause', text)
    .option('--all', 'whatever waits', false)
    .addOption(reason())
    .action((ids: string[], options: RetryOptions, command: Command) => retry(ids, options, command));
  return parked;
}

const PARKED: Column<ParkedDto>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'PARTNER', of: ({ partner }) => partner },
  { title: 'ORDER', of: ({ key }) => key, most: 30 },
  { title: 'DOCUMENT', of: ({ contract, type }) => contract ?? type, most: 30 },
  { title: 'TRIES', of: ({ attempts }) => attempts },
  { title: 'NEXT TRY', of: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
  { title: 'WHY', of: ({ reason }) => reason },
];

async function listParked({ partner, order, state, limit, json }: ListOptions): Promise<void> {
  await list(ApiClient.fromEnvironment(), {
    path: '/v1/parked',
    query: { partner, key: order, state },
    columns: PARKED,
    ...{ limit, json, none: 'Nothing waits. What needs somebody: parley dead-letters list' },
  });
}

async function retry(ids: readonly string[], options: RetryOptions, command: Command): Promise<void> {
  const { partner, order, group, all, reason, json } = options;
  const filtered = [partner, order, group].some((filter) => filter !== undefined);
  if ([ids.length > 0, filtered, all].filter(Boolean).length !== 1)
    command.error('parley: Name messages by id, or say which ones: --partner, --order, --group; or --all.');
  const api = ApiClient.fromEnvironment();
  if (ids.length > 0) {
    if (ids.length > 1) {
      const plan = [`${counted(ids.length, 'message')} would be tried now: ${ids.join(', ')}`];
      await agreed({ plan, question: 'Try them now?' }, options, command);
    }
    const one = (id: string) => api.ask('POST', `/v1/parked/${id}/retry`, { body: { reason } });
    return printBulk(json, await bulk([...new Set(ids)], one));
  }
  const body = { partner, key: order, fingerprint: group };
  const { body: plan } = await api.ask<RetriedDto>('POST', '/v1/parked/retry', { query: { plan: true }, body });
  if (plan.count === 0) {
    print(json, plan, ['0 messages wait for an attempt.']);
    return;
  }
  const more = plan.more ? ', the oldest of more' : '';
  const lines = [`${counted(plan.count, 'message')} would be tried now${more}`];
  await agreed({ plan: lines, question: 'Try them now?' }, options, command);
  const { body: done } = await api.ask<RetriedDto>('POST', '/v1/parked/retry', { body: { ...body, reason } });
  if (done.count === 0) throw new AppError('plan-changed', 'None of them waits any more.', { hint: NEXT });
  print(json, done, [`${counted(done.count, 'message')} tried now`]);
  if (done.more) hint('There are more: run it again when these are tried.');
  if (!json) hint(NEXT);
}

const NEXT = 'See what became of them: parley parked list, parley dead-letters list';
