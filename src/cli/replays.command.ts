import { Command, Option } from 'commander';
import type { ReplayDto, ReplayItemDto } from '../messaging/triage';
import { ApiClient } from './api-client';
import { hint, print } from './output';
import { firstOf, list } from './listing';
import { examples, reason, wholeUpTo, withJson, withLimit } from './options';
import { ITEMS, reportOutcome } from './replays/outcome';
import { planLines } from './replays/plan';
import { started } from './replays/start';
import { pathOf, watched } from './replays/watch';
import { facts, table } from './terminal/table';
import { localTime } from './terminal/words';

const STATES = ['planning', 'planned', 'running', 'paused', 'cancelled', 'done', 'expired'];
const OUTCOMES = ['planned', 'waiting', 'processed', 'failed-again', 'skipped'];
const CHANGES = {
  pause: 'Send nothing more until it is resumed; what was sent goes on.',
  resume: 'Go on at its pace: nothing is caught up.',
  cancel: 'Give up what is not sent yet, or a plan; what was sent goes on.',
} as const;

interface ShowOptions {
  items?: string;
  limit: number;
  json: boolean;
}

export function replaysCommand(): Command {
  const replays = examples(
    new Command('replays').description('Replays of dead letters: plans, what runs, what became of each message.'),
    'parley replays list --state running',
    'parley replays watch 0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11',
    'parley replays show 0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11 --items failed-again',
    'parley replays pause 0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11 --reason "acme is down"',
  );
  withJson(withLimit(replays.command('list')))
    .description('Plans and replays, newest first.')
    .addOption(new Option('--state <state>', 'only those').choices(STATES))
    .action(listReplays);
  withJson(withLimit(replays.command('show <id>')))
    .description('Where a replay stands, what it was planned to do, and what became of its messages.')
    .addOption(new Option('--items <outcome>', 'only messages with this outcome').choices(OUTCOMES))
    .action(show);
  withJson(replays.command('start <plan>'))
    .description('Start a plan that was made with --plan. Exit 4 when it is no longer what it says.')
    .addOption(reason().makeOptionMandatory())
    .option('--pace <n>', 'at most so many messages a second (default: as planned)', wholeUpTo(10_000))
    .option('--detach', 'do not wait for its end', false)
    .action((planId: string, options: { reason: string; pace?: number; detach: boolean; json: boolean }) =>
      started(ApiClient.fromEnvironment(), { planId, ...options, pace: options.pace }),
    );
  withJson(replays.command('watch <id>'))
    .description('Progress until every message has its end. Exit 3 when some failed again; Ctrl-C leaves it running.')
    .action(watch);
  for (const verb of ['pause', 'resume', 'cancel'] as const)
    withJson(replays.command(`${verb} <id>`))
      .description(CHANGES[verb])
      .addOption(reason().makeOptionMandatory())
      .action((id: string, options: { reason: string; json: boolean }) => change(verb, id, options));
  return replays;
}

const REPLAYS = [
  { title: 'ID', of: ({ id }: ReplayDto) => id },
  { title: 'STATE', of: ({ state }: ReplayDto) => state },
  { title: 'PLANNED', of: ({ plannedAt }: ReplayDto) => localTime(plannedAt) },
  { title: 'BY', of: ({ startedBy, plannedBy }: ReplayDto) => (startedBy ?? plannedBy).name, most: 24 },
  { title: 'OUTCOME', of: ({ summary }: ReplayDto) => summary },
  { title: 'REASON', of: ({ reason }: ReplayDto) => reason },
];

async function listReplays(options: { state?: string; limit: number; json: boolean }): Promise<void> {
  const { state, limit, json } = options;
  await list(ApiClient.fromEnvironment(), {
    path: '/v1/replays',
    query: { state },
    columns: REPLAYS,
    ...{ limit, json, none: 'No replays: parley dead-letters replay --group … plans and starts one.' },
  });
}

async function show(id: string, { items: outcome, limit, json }: ShowOptions): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const replay = await api.get<ReplayDto>(pathOf(id));
  const { items, more } = await firstOf<ReplayItemDto>(api, `${pathOf(id)}/items`, limit, { outcome });
  const { startedBy, plannedBy } = replay;
  print(json, { ...replay, items }, [
    ...facts([
      ['replay', id],
      ['state', `${replay.state}: ${replay.summary}`],
      ['asked for', JSON.stringify(replay.selection)],
      ['planned', `${localTime(replay.plannedAt)} by ${plannedBy.name} (${plannedBy.id})`],
      ['may start until', replay.state === 'planned' ? localTime(replay.expiresAt) : null],
      ['started', startedBy && `${localTime(replay.startedAt)} by ${startedBy.name} (${startedBy.id})`],
      ['ended', localTime(replay.endedAt)],
      ['reason', replay.reason],
    ]),
    '',
    ...planLines(replay),
    ...(items.length > 0 ? ['', ...table(ITEMS, items)] : []),
  ]);
  if (more) hint(`There are more messages: --limit shows up to 9999, and ${items.length} are shown.`);
  if (replay.state === 'planned' && !json) hint(`Next: parley replays start ${id} --reason "…"`);
}

async function watch(id: string, { json }: { json: boolean }): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const replay = await api.get<ReplayDto>(pathOf(id));
  if (replay.state === 'planned' && !json) hint(`It is not started yet: parley replays start ${id} --reason "…"`);
  await reportOutcome(api, await watched(api, id), json);
}

async function change(
  verb: keyof typeof CHANGES,
  id: string,
  { reason, json }: { reason: string; json: boolean },
): Promise<void> {
  const { body } = await ApiClient.fromEnvironment().ask<ReplayDto>('POST', `${pathOf(id)}/${verb}`, {
    body: { reason },
  });
  print(json, body, [`replay ${id} ${body.state}: ${body.summary}`]);
  if (verb === 'pause' && !json) hint(`Next: parley replays resume ${id} --reason "…"`);
}
