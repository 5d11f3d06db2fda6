import type { Command } from 'commander';
import type { ReceiverDto } from '../../../notifications';
import { ApiClient, type ApiAnswer } from '../../api-client';
import { list } from '../../listing';
import { unmaskReason } from '../../options';
import { hint, print } from '../../output';
import { facts, table } from '../../terminal/table';
import { localTime, localTimes } from '../../terminal/words';
import { section } from '../view';
import { aboutOf, quietHoursOf } from './changes';
import { fileOf } from './file';

export const pathOf = (id: string): string => `/v1/notification-receivers/${id}`;

const COLUMNS = [
  { title: 'RECEIVER', of: ({ id }: ReceiverDto) => id },
  { title: 'NAME', of: ({ name }: ReceiverDto) => name, most: 30 },
  { title: 'REACHED BY', of: reachedBy },
  { title: 'QUIET', of: ({ quietHours }: ReceiverDto) => quietHours && quietHoursOf(quietHours) },
  { title: 'IS TOLD', of: ({ subscriptions }: ReceiverDto) => kindsOf(subscriptions), most: 80 },
];

/** `email, sms (bad), webhook (disabled)` */
function reachedBy({ email, phone, webhookUrl, webhook, badAddresses }: ReceiverDto): string {
  const bad = (channel: string) => (badAddresses.some((one) => one.channel === channel) ? ' (refused)' : '');
  const ways = [
    email === null ? null : `email${bad('email')}`,
    phone === null ? null : `sms${bad('sms')}`,
    webhookUrl === null ? null : `webhook${webhook?.disabledAt ? ' (disabled)' : bad('webhook')}`,
  ];
  return ways.filter((way) => way !== null).join(', ');
}

const kindsOf = (subscriptions: ReceiverDto['subscriptions']): string =>
  [...new Set(subscriptions.map(({ kind }) => kind))].join(', ');

export async function listReceivers({ limit, json }: { limit: number; json: boolean }): Promise<void> {
  const [first] = await list<ReceiverDto>(ApiClient.fromEnvironment(), {
    path: '/v1/notification-receivers',
    ...{ columns: COLUMNS, limit, json },
    none: 'No receivers, so nobody is told anything. Next: parley notifications receivers set ops-desk --file ops-desk.yaml',
  });
  if (first && !json) hint(`Next: parley notifications receivers show ${first.id}`);
}

export interface ShowOptions {
  yaml: boolean;
  unmask: boolean;
  reason?: string;
  json: boolean;
}

export async function showReceiver(id: string, options: ShowOptions, command: Command): Promise<void> {
  const { yaml, json } = options;
  const reason = unmaskReason(options, command);
  const { body } = await looked(ApiClient.fromEnvironment(), id, reason);
  if (yaml) return void process.stdout.write(fileOf(body));
  print(json, body, viewLines(body));
  if (!json) nextSteps(body).forEach(hint);
}

const looked = (api: ApiClient, id: string, reason: string | undefined): Promise<ApiAnswer<ReceiverDto>> =>
  reason === undefined
    ? api.ask<ReceiverDto>('GET', pathOf(id))
    : api.ask<ReceiverDto>('POST', `${pathOf(id)}/unmasking`, { body: { reason } });

function viewLines(receiver: ReceiverDto): string[] {
  const { quietHours, webhook, subscriptions } = receiver;
  return [
    ...facts([
      ['receiver', receiver.id],
      ['name', receiver.name],
      ['version', receiver.version],
      ['email', receiver.email],
      ['phone', receiver.phone],
      ['webhook', receiver.webhookUrl],
      ['disabled', webhook?.disabledAt && `since ${localTime(webhook.disabledAt)}: ${webhook.disabledReason}`],
      ['signed by', webhook?.secrets.map(secretOf).join(', ')],
      ['quiet hours', quietHours && quietHoursOf(quietHours)],
      ['last change', localTime(receiver.updatedAt)],
    ]),
    ...section('Is told', table(SUBSCRIPTIONS, subscriptions)),
    ...section('Refused for good', table(BAD, receiver.badAddresses)),
  ];
}

type Secret = NonNullable<ReceiverDto['webhook']>['secrets'][number];
const secretOf = ({ number, validUntil }: Secret): string =>
  `secret ${number}${validUntil === null ? '' : ` until ${localTime(validUntil)}`}`;

type Subscription = ReceiverDto['subscriptions'][number];
const SUBSCRIPTIONS = [
  { title: '  KIND', of: ({ kind }: Subscription) => `  ${kind}` },
  { title: 'OVER', of: ({ channels }: Subscription) => channels.join(', ') },
  { title: 'WHICH', of: ({ partners }: Subscription) => aboutOf(partners) },
];

type Bad = ReceiverDto['badAddresses'][number];
const BAD = [
  { title: '  CHANNEL', of: ({ channel }: Bad) => `  ${channel}` },
  { title: 'SINCE', of: ({ since }: Bad) => localTime(since) },
  { title: 'CODE', of: ({ code }: Bad) => code },
  { title: 'WHY', of: ({ detail }: Bad) => localTimes(detail) },
];

function nextSteps({ id, webhook, badAddresses }: ReceiverDto): string[] {
  const set = `parley notifications receivers set ${id} --file …`;
  return [
    ...(badAddresses.length > 0
      ? [
          `Nothing more is sent to a refused address. Once it is mended: parley notifications receivers test ${id}`,
          `  or give it another one: ${set}`,
        ]
      : []),
    ...(webhook?.disabledAt
      ? [`Once its endpoint is mended: parley notifications receivers enable ${id} --reason "…"`]
      : []),
    `To change it: parley notifications receivers show ${id} --yaml > ${id}.yaml`,
    `  then, edited: parley notifications receivers set ${id} --file ${id}.yaml`,
  ];
}
