import { Command, InvalidArgumentError, Option } from 'commander';
import type { OutboxStatusDto, ParkedOutboundDto, StopCode } from '../messaging/outbox';
import { ApiClient } from './api-client';
import { hint, print } from './output';
import { firstOf, list } from './listing';
import { examples, reason, withJson, withLimit } from './options';
import { agreed, asking, type Consent } from './terminal/consent';
import { type Column, facts, table } from './terminal/table';
import { counted, localTime } from './terminal/words';

interface ListOptions {
  stuck: boolean;
  topic?: string;
  state?: string;
  limit: number;
  json: boolean;
}

/** `orders.acme.request.v1/3`, or the number of a message. */
export function laneOrSeq(raw: string): string {
  if (/^[1-9]\d{0,17}$/.test(raw) || /^(?!\.{1,2}\/)[\w.-]{1,249}\/\d{1,4}$/.test(raw)) return raw;
  throw new InvalidArgumentError('a lane such as orders.acme.request.v1/3, or the number of a message such as 48211');
}

const seq = (raw: string): string => {
  if (/^[1-9]\d{0,17}$/.test(raw)) return raw;
  throw new InvalidArgumentError('the number of a message, such as 48211');
};

export function outboxCommand(): Command {
  const outbox = examples(
    new Command('outbox').description('What we send: where it stands, and what cannot be sent.'),
    'parley outbox status',
    'parley outbox list --stuck',
    'parley outbox retry orders.acme.request.v1/3 --reason "the topic is there again"',
    'parley outbox retry 48211',
    'parley outbox discard 48211 --reason "sent to acme by mail"',
  );
  withJson(outbox.command('status'))
    .description('Who sends, how much waits, which lanes fail or are parked, and why.')
    .action(({ json }: { json: boolean }) => status(json));
  withJson(withLimit(outbox.command('list')))
    .description('Messages that wait for a parked lane, are refused by the broker, or stand behind one that is.')
    .option('--stuck', 'only those that do not go out by themselves: refused ones, and those behind them', false)
    .option('--topic <name>', 'only of this topic')
    .addOption(
      new Option('--state <state>', 'only those (default: all but discarded ones)')
        .choices(['waiting', 'held', 'dead', 'retrying', 'discarded'])
        .conflicts('stuck'),
    )
    .action(listParked);
  withJson(outbox.command('retry'))
    .description('Have a parked lane tried now, or send a refused message again, under its id.')
    .argument('<lane-or-number>', 'topic/partition, or the number of a message', laneOrSeq)
    .addOption(reason())
    .action(retry);
  asking(withJson(outbox.command('discard')))
    .description('Give up a refused message: it is never sent, and what stands behind it follows.')
    .argument('<number>', 'of the message, as listed', seq)
    .addOption(reason().makeOptionMandatory())
    .action(discard);
  return outbox;
}

async function status(json: boolean): Promise<void> {
  const status = await ApiClient.fromEnvironment().get<OutboxStatusDto>('/v1/outbox');
  const { owner, pending, pendingIsExact, waiting, dead, held, retrying } = status;
  const atMost = pendingIsExact ? '' : 'at most ';
  const lanes = [
    ...status.parkedLanes.map((lane) => ({ ...lane, state: 'parked' })),
    ...status.failingLanes.map((lane) => ({ ...lane, state: 'failing', nextAttemptAt: null })),
  ];
  print(json, status, [
    ...facts([
      ['sending', owner ? `${owner.instance}, lease until ${localTime(owner.leaseUntil)}` : 'nobody: no relay runs'],
      ['pending', `${atMost}${counted(pending, 'message')}`],
      ['oldest of them', localTime(status.oldestPendingAt)],
      ['for parked lanes', counted(waiting, 'message')],
      ['refused', counted(dead, 'message')],
      ['behind refused', counted(held, 'message')],
      ['being sent again', retrying || null],
      ['oldest parked', localTime(status.oldestParkedAt)],
    ]),
    ...(lanes.length > 0 ? ['', ...table(LANES, lanes)] : []),
  ]);
  if (json) return;
  if (owner === null) hint('Start a process with the role relay.');
  const [parked] = status.parkedLanes.filter(({ code }) => !isOfPartner(code));
  if (parked) hint(`When its cause is gone: parley outbox retry ${parked.topic}/${parked.partition}`);
  if (status.parkedLanes.some(({ code }) => isOfPartner(code)))
    hint('What waits for a partner goes out when that is resumed: parley partner resume <id>');
  if (dead > 0) hint('Next: parley outbox list --stuck');
}

/** Why a lane waits that nobody can have tried: nothing is sent to its partner. The type holds all of them; the room itself takes a second to load. */
const OF_PARTNER: Readonly<Record<StopCode, true>> = { 'partner-paused': true, 'partner-suspended': true };
const isOfPartner = (code: string): boolean => Object.hasOwn(OF_PARTNER, code);

interface Lane {
  topic: string;
  partition: number;
  state: string;
  since: string;
  rows: number;
  attempts: number;
  nextAttemptAt: string | null;
  reason: string;
}

const LANES: Column<Lane>[] = [
  { title: 'LANE', of: ({ topic, partition }) => `${topic}/${partition}` },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'SINCE', of: ({ since }) => localTime(since) },
  { title: 'MESSAGES', of: ({ rows }) => rows },
  { title: 'FAILED', of: ({ attempts }) => attempts },
  { title: 'NEXT TRY', of: ({ nextAttemptAt }) => localTime(nextAttemptAt) },
  { title: 'WHY', of: ({ reason }) => reason },
];

const PARKED: Column<ParkedOutboundDto>[] = [
  { title: 'NUMBER', of: ({ seq }) => seq },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'LANE', of: ({ topic, partition }) => `${topic}/${partition}` },
  { title: 'ORDER', of: ({ key }) => key, most: 30 },
  { title: 'PARKED', of: ({ parkedAt }) => localTime(parkedAt) },
  { title: 'WHY', of: ({ code, detail, discardReason }) => [code, discardReason ?? detail].filter(Boolean).join(': ') },
];

async function listParked({ stuck, topic, state, limit, json }: ListOptions): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const none = 'Nothing is parked. What is still to be sent, and whether that fails: parley outbox status';
  if (!stuck) {
    await list(api, { path: '/v1/outbox/parked', query: { topic, state }, columns: PARKED, limit, json, none });
    return;
  }
  const of = (one: string) => firstOf<ParkedOutboundDto>(api, '/v1/outbox/parked', limit, { topic, state: one });
  const [dead, held] = [await of('dead'), await of('held')];
  const items = [...dead.items, ...held.items].sort((a, b) => (BigInt(a.seq) < BigInt(b.seq) ? -1 : 1)).slice(0, limit);
  print(json, items, table(PARKED, items));
  if (dead.more || held.more || items.length < dead.items.length + held.items.length)
    hint(`There are more: --limit shows up to 9999, and ${items.length} are shown.`);
  if (json) return;
  const [first] = dead.items;
  if (first) hint(`Next: parley outbox retry ${first.seq}, or parley outbox discard ${first.seq} --reason "…"`);
  else hint('Nothing is stuck.');
}

async function retry(target: string, { reason, json }: { reason?: string; json: boolean }): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const [topic = '', partition] = target.split('/');
  if (partition !== undefined) {
    await api.ask('POST', `/v1/outbox/lanes/${encodeURIComponent(topic)}/${partition}/retry`, { body: { reason } });
    print(json, { topic, partition: Number(partition), due: true }, [`${target} is tried now`]);
    if (!json) hint('Its messages go out in order, or it says anew why not: parley outbox status');
    return;
  }
  const { body } = await api.ask<ParkedOutboundDto>('POST', `/v1/outbox/messages/${target}/retry`, {
    body: { reason },
  });
  print(json, body, [`${target} is sent again: order ${body.key}, ${body.topic}/${body.partition}`]);
  if (!json) hint('Refused again, it is listed again: parley outbox list --stuck');
}

async function discard(
  number: string,
  options: Consent & { reason: string; json: boolean },
  command: Command,
): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const question = `Give up message ${number} for good? It is never sent.`;
  await agreed({ plan: [], question }, options, command);
  const { body } = await api.ask<ParkedOutboundDto>('POST', `/v1/outbox/messages/${number}/discard`, {
    body: { reason: options.reason },
  });
  print(options.json, body, [`${number} is discarded: order ${body.key}, ${body.topic}/${body.partition}`]);
}
