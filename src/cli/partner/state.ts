import { Command } from 'commander';
import type { PartnerStateDto } from '../../partners';
import { ApiClient } from '../api-client';
import { partnerId, reason, withJson } from '../options';
import { hint, print } from '../output';
import { localTime } from '../terminal/words';

const VERBS = {
  pause: {
    path: 'pause',
    description: 'Send it nothing for now; what it sends is applied as before.',
    next: (id: string) =>
      `Within a second or two nothing is sent any more; orders are accepted and wait, as do our answers. Next: parley partner resume ${id}`,
  },
  suspend: {
    path: 'suspension',
    description: 'Send it nothing, and keep what it sends, in order, without applying it.',
    next: (id: string) =>
      `Within a second or two nothing is sent any more; orders are accepted and wait; parley parked list shows what is kept. Next: parley partner resume ${id}`,
  },
  resume: {
    path: 'resumption',
    description: 'Serve it again: what waits is sent, and what was kept is applied, both in order.',
    next: undefined,
  },
} as const;

type Verb = keyof typeof VERBS;

export function stateCommand(verb: Verb): Command {
  const { description } = VERBS[verb];
  const why = verb === 'resume' ? reason() : reason('why; shown wherever something waits for it').makeOptionMandatory();
  return withJson(new Command(verb).argument('<id>', 'the partner', partnerId).description(description))
    .addOption(why)
    .action((id: string, options: { reason?: string; json: boolean }) => change(verb, id, options));
}

async function change(verb: Verb, id: string, { reason, json }: { reason?: string; json: boolean }): Promise<void> {
  const { path, next } = VERBS[verb];
  const body = reason === undefined ? {} : { reason };
  const answer = await ApiClient.fromEnvironment().ask<PartnerStateDto>('POST', `/v1/partners/${id}/${path}`, { body });
  const { state, since } = answer.body;
  print(json, answer.body, [`${id}: ${state}${since === null ? '' : ` since ${localTime(since)}`}`]);
  if (next !== undefined && !json) hint(next(id));
}
