import { Command, Option } from 'commander';
import type { ExchangeDto, ExchangeListDto, OrderDto, TimelineDto } from '../orders';
import { ApiClient } from './api-client';
import { hint, print } from './output';
import { list } from './listing';
import { examples, instant, partnerId, reason, text, unmaskReason, withJson, withLimit, withUnmask } from './options';
import { type Column, facts, table } from './terminal/table';
import { localTime, localTimes } from './terminal/words';

export function ordersCommand(): Command {
  const orders = examples(
    new Command('orders').description('Which orders there are, where one stands, and giving up waiting for an answer.'),
    'parley orders list --partner acme --overdue',
    'parley orders show 4500017',
    'parley orders show 4500017 --unmask --reason "acme rings its contact"',
    'parley orders withdraw 4500017 7f0f3c1e-50f5-4a3e-8f0e-1b6a0d9c2e44 --reason "settled by telephone"',
  );
  withJson(withLimit(orders.command('list')))
    .description('Orders, those that were placed last first.')
    .option('--partner <id>', 'only of this partner', partnerId)
    .addOption(new Option('--state <state>', 'only those that stand there').argParser(text))
    .option('--overdue', 'only those whose answer, or the answer to whose cancellation, is overdue', false)
    .option('--since <time>', 'only those that changed since: how long ago (2h, 7d) or a time (RFC 3339)', instant)
    .action(listOrders);
  withUnmask(withJson(orders.command('show <number>')))
    .description('What happened to an order, step by step, and what it waits for.')
    .action(show);
  withJson(orders.command('withdraw <number> <correlationId>'))
    .description('Stop waiting for the answer to a request; the partner is not told.')
    .addOption(reason().makeOptionMandatory())
    .action(withdraw);
  return orders;
}

const ORDERS: Column<OrderDto>[] = [
  { title: 'ORDER', of: ({ orderNumber }) => orderNumber },
  { title: 'PARTNER', of: ({ partner }) => partner },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'PLACED', of: ({ createdAt }) => localTime(createdAt) },
  { title: 'LAST CHANGE', of: ({ updatedAt }) => localTime(updatedAt) },
  { title: 'OVERDUE SINCE', of: ({ overdueSince }) => localTime(overdueSince) },
];

interface ListOptions {
  partner?: string;
  state?: string;
  overdue: boolean;
  since?: string;
  limit: number;
  json: boolean;
}

async function listOrders({ partner, state, overdue, since, limit, json }: ListOptions): Promise<void> {
  const [first] = await list(ApiClient.fromEnvironment(), {
    path: '/v1/orders',
    query: { partner, state, updatedSince: since, overdue: overdue || undefined },
    columns: ORDERS,
    ...{ limit, json, none: 'No orders fit.' },
  });
  if (first && !json) hint(`Next: parley orders show ${first.orderNumber}`);
}

const pathOf = (number: string): string => `/v1/orders/${encodeURIComponent(number)}`;

async function show(
  number: string,
  { json, ...options }: { json: boolean; unmask: boolean; reason?: string },
  command: Command,
): Promise<void> {
  const why = unmaskReason(options, command);
  const api = ApiClient.fromEnvironment();
  const [order, { steps }, { items: exchanges }] = await Promise.all([
    why === undefined ? api.get<OrderDto>(pathOf(number)) : unmasked(api, number, why),
    api.get<TimelineDto>(`${pathOf(number)}/timeline`),
    api.get<ExchangeListDto>(`${pathOf(number)}/exchanges`),
  ]);
  print(json, { order, timeline: steps, exchanges }, [
    ...facts([
      ['order', order.orderNumber],
      ['partner', order.partner],
      ['state', order.state],
      ['contact', order.contact && Object.values(order.contact).join(', ')],
      ['overdue since', localTime(order.overdueSince)],
      ['last change', localTime(order.updatedAt)],
    ]),
    '',
    ...timelineLines(steps),
    '',
    ...table(EXCHANGES, exchanges),
  ]);
  const open = exchanges.find(({ direction, waitsFor }) => direction === 'out' && waitsFor !== null);
  if (open && !json) hint(`To stop waiting: parley orders withdraw ${number} ${open.correlationId} --reason "…"`);
}

const unmasked = async (api: ApiClient, number: string, why: string): Promise<OrderDto> =>
  (await api.ask<OrderDto>('POST', `${pathOf(number)}/unmasking`, { body: { reason: why } })).body;

/** Steps of an order in words, what is still to come last. */
export const timelineLines = (steps: TimelineDto['steps']): string[] =>
  steps.map(({ at, text }) => `${localTime(at)?.padEnd(19) ?? 'to come'.padEnd(19)}  ${localTimes(text)}`);

const EXCHANGES = [
  { title: 'EXCHANGE', of: ({ correlationId }: ExchangeDto) => correlationId },
  { title: 'REQUEST', of: ({ kind }: ExchangeDto) => kind },
  { title: 'STATE', of: ({ state }: ExchangeDto) => state },
  { title: 'DUE', of: ({ deadline }: ExchangeDto) => localTime(deadline) },
  { title: 'SENT AGAIN', of: ({ resends }: ExchangeDto) => resends },
  { title: 'ANSWER', of: ({ answerCode, endReason }: ExchangeDto) => answerCode ?? endReason, most: 60 },
];

async function withdraw(
  number: string,
  correlationId: string,
  { reason, json }: { reason: string; json: boolean },
): Promise<void> {
  const path = `${pathOf(number)}/exchanges/${encodeURIComponent(correlationId)}/withdrawal`;
  const { body } = await ApiClient.fromEnvironment().ask<ExchangeDto>('POST', path, { body: { reason } });
  print(json, body, [`${correlationId}: ${body.state}`]);
  if (!json)
    hint('Nobody waits for an answer any more; one that comes all the same is applied where the order allows.');
}
