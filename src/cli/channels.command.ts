import { Command } from 'commander';
import type { ChannelDto } from '../messaging/triage';
import { ApiClient } from './api-client';
import { hint, print } from './output';
import { list } from './listing';
import { examples, reason, withJson, withLimit } from './options';
import { localTime } from './terminal/words';

interface ChangeOptions {
  reason: string;
  json: boolean;
}

export function channelsCommand(): Command {
  const channels = examples(
    new Command('channels').description('Topics of partners: which are read, and pausing those that do harm.'),
    'parley channels list',
    'parley channels pause orders.acme.response.v1 --reason "acme sends garbage"',
    'parley channels resume orders.acme.response.v1 --reason "acme has mended it"',
  );
  withJson(withLimit(channels.command('list')))
    .description('All topics, and which of them are not read for now.')
    .action(({ limit, json }: { limit: number; json: boolean }) => show(limit, json));
  for (const verb of ['pause', 'resume'] as const)
    withJson(channels.command(`${verb} <topic>`))
      .description(
        verb === 'pause'
          ? 'Stop reading a topic; what is in it stays there.'
          : 'Read it again, from where it was left.',
      )
      .addOption(reason().makeOptionMandatory())
      .action((topic: string, options: ChangeOptions) => change(verb, topic, options));
  return channels;
}

async function show(limit: number, json: boolean): Promise<void> {
  const channels = await list<ChannelDto>(ApiClient.fromEnvironment(), {
    path: '/v1/channels',
    columns: [
      { title: 'TOPIC', of: ({ topic }) => topic },
      { title: 'PARTNER', of: ({ partner }) => partner },
      { title: 'WHO WRITES', of: ({ direction }) => (direction === 'out' ? 'we' : 'they') },
      { title: 'FORMAT', of: ({ format }) => format },
      { title: 'PARTITIONS', of: ({ partitions }) => partitions },
      { title: 'STATE', of: stateOf },
    ],
    ...{ limit, json, none: 'No channels yet: parley partner add acme --name "Acme Ltd"' },
  });
  const paused = channels.find((channel) => channel.paused);
  if (paused && !json) hint(`Next: parley channels resume ${paused.topic} --reason "…"`);
}

function stateOf({ direction, paused }: ChannelDto): string {
  if (paused) {
    const { since, by, code, reason, unreadKeptUntil } = paused;
    const kept =
      unreadKeptUntil === null ? '' : `; the broker keeps what is unread until ${localTime(unreadKeptUntil)}`;
    return `paused since ${localTime(since)} by ${by} (${code}): ${reason}${kept}`;
  }
  return direction === 'in' ? 'read' : 'written';
}

async function change(verb: 'pause' | 'resume', topic: string, { reason, json }: ChangeOptions): Promise<void> {
  const path = `/v1/channels/${encodeURIComponent(topic)}/${verb}`;
  const { body } = await ApiClient.fromEnvironment().ask<ChannelDto>('POST', path, { body: { reason } });
  print(json, body, [`${topic}: ${stateOf(body)}`]);
  if (verb === 'pause' && !json) hint(`Every process stops reading it. Next: parley channels resume ${topic}`);
}
