import { Command } from 'commander';
import type { ExchangeDto, ExchangeListDto, OrderDto, TimelineDto } from '../orders';
import { ApiClient } from './api-client';
import { hint, print } from './output';
import { examples, reason, unmaskReason, withJson, withUnmask } from './options';
import { facts, table } from './terminal/table';
import { localTime, localTimes } from './terminal/words';

export function ordersCommand(): Command {
  const orders = examples(
    new Command('orders').description('Where an order stands, and giving up waiting for an answer.'),
    'parley orders show 4500017',
    'parley orders show 4500017 --unmask --reason "acme rings its contact"',
    'parley orders withdraw 4500017 7f0f3c1e-50f5-4a3e-8f0e-1b6a0d9c2e44 --reason "settled by telephone"',
  );
  withUnmask(withJson(orders.command('show <number>')))
    .description('What happened to an order, step by step, and what it waits for.')
    .action(show);
  withJson(orders.command('withdraw <number> <correlationId>'))
    .description('Stop waiting for the answer to a request; the partner is not told.')
    .addOption(reason().makeOptionMandatory())
    .action(withdraw);
  return orders;
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
