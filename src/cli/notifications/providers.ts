import { type Command, InvalidArgumentError } from 'commander';
import type { NotificationProviderDto } from '../../notifications';
import { ApiClient } from '../api-client';
import { list } from '../listing';
import { examples, reason, withJson, withLimit } from '../options';
import { hint, print } from '../output';
import type { Column } from '../terminal/table';
import { localTime, localTimes } from '../terminal/words';

export function providerName(raw: string): string {
  if (/^(email|sms|webhook\/[a-z][a-z0-9-]{0,63})$/.test(raw)) return raw;
  throw new InvalidArgumentError('email, sms, or webhook/RECEIVER');
}

/** Who sends: a group of commands of its own. */
export function providersOf(notifications: Command): void {
  const providers = examples(
    notifications
      .command('providers')
      .description('Who sends: whether it is reached, its limits, and what waits for it.'),
    'parley notifications providers',
    'parley notifications providers retry email --reason "the mail server is back"',
    'parley notifications providers retry webhook/warehouse',
  );
  withJson(withLimit(providers.command('list', { isDefault: true })))
    .description('All of them (default).')
    .action(listProviders);
  withJson(providers.command('retry').argument('<name>', 'email, sms or webhook/RECEIVER', providerName))
    .description('Do not wait for the end of a pause that its failures caused: try it now.')
    .addOption(reason())
    .action(retry);
}

const COLUMNS: readonly Column<NotificationProviderDto>[] = [
  { title: 'PROVIDER', of: ({ name }) => name },
  { title: 'WAITING', of: ({ waiting }) => waiting },
  { title: 'OLDEST', of: ({ oldestWaitingAt }) => localTime(oldestWaitingAt) },
  { title: 'UNKNOWN', of: ({ unknown }) => unknown },
  { title: 'MOST/S', of: ({ perSecond }) => perSecond },
  { title: 'LAST SUCCESS', of: ({ lastSuccessAt }) => localTime(lastSuccessAt) },
  { title: 'STANDING', of: ({ standing }) => localTimes(standing) },
];

async function listProviders({ limit, json }: { limit: number; json: boolean }): Promise<void> {
  const providers = await list<NotificationProviderDto>(ApiClient.fromEnvironment(), {
    path: '/v1/notification-providers',
    ...{ columns: COLUMNS, limit, json, none: 'No providers.' },
  });
  if (!json) providers.flatMap(adviceOn).forEach(hint);
}

function adviceOn({ name, receiver, disabledAt, openUntil, unknown, channel }: NotificationProviderDto): string[] {
  return [
    ...(disabledAt && receiver
      ? [`Once it is mended: parley notifications receivers enable ${receiver} --reason "…"`]
      : []),
    ...(openUntil && !disabledAt ? [`Once it is mended: parley notifications providers retry ${name}`] : []),
    ...(unknown > 0 ? [`What nobody knows of it: parley notifications list --state unknown --channel ${channel}`] : []),
  ];
}

async function retry(name: string, { reason: why, json }: { reason?: string; json: boolean }): Promise<void> {
  const path = `/v1/notification-providers/${encodeURIComponent(name)}/retry`;
  const { body } = await ApiClient.fromEnvironment().ask<NotificationProviderDto>('POST', path, {
    body: { reason: why },
  });
  print(json, body, [`provider ${name}: ${localTimes(body.standing)}`]);
}
