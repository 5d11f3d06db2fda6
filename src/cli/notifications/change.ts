import type { Command } from 'commander';
import type { NotificationViewDto } from '../../notifications';
import { AppError } from '../../platform/errors';
import { ApiClient } from '../api-client';
import { bulk, printBulk } from '../bulk';
import { hint, print } from '../output';
import { agreed, type Consent, reasonFor } from '../terminal/consent';
import { counted, localTimes } from '../terminal/words';
import { type Chosen, choose, leftLines, mustChoose, planLines, type Verb } from './chosen';
import type { SelectionOptions } from './selection';
import { pathOf } from './show';
import { sinceThen } from './since-then';

export interface ChangeOptions extends SelectionOptions, Consent {
  reason?: string;
  json: boolean;
}

const PATH = { resend: 'resend', cancel: 'cancellation' } as const;
const QUESTION = { resend: 'Send anew', cancel: 'Cancel' } as const;

/** Resends or cancels what was looked at: what changes meanwhile stays as it is. */
export async function changeNotifications(
  verb: Verb,
  ids: readonly string[],
  options: ChangeOptions,
  command: Command,
): Promise<void> {
  mustChoose(ids, options, command);
  const api = ApiClient.fromEnvironment();
  const chosen = await choose(api, verb, ids, options);
  const { take } = chosen;
  if (take.length === 0) return nothing(verb, chosen, options.json, ids);
  if (ids.length !== 1) {
    const question = `${QUESTION[verb]} ${counted(take.length, 'notification')}?`;
    await agreed({ plan: planLines(verb, chosen), question }, options, command);
  }
  const reason = await reasonFor(options.reason, options, command);
  const made = new Map<string, NotificationViewDto>();
  const seen = new Map(take.map((notification) => [notification.id, notification]));
  const named = ids.length > 0 ? [...new Set(ids)] : [...seen.keys()];
  const { outcomes, exitCode } = await bulk(named, async (id) => {
    const before = seen.get(id) ?? (await api.get<NotificationViewDto>(pathOf(id)));
    made.set(id, await changed(api, before, PATH[verb], { reason }));
  });
  const told = outcomes.map((outcome) => ({ ...outcome, notification: made.get(outcome.id) ?? null }));
  printBulk(options.json, { outcomes: told, exitCode }, [
    verb === 'resend'
      ? { title: 'SENT ANEW AS', of: ({ notification }) => notification?.id }
      : { title: 'STATE', of: ({ notification }) => notification?.state },
  ]);
  if (options.json) return;
  const [first] = made.values();
  if (verb === 'resend' && first) hint(`See what becomes of it: parley notifications show ${first.id}`);
  if (chosen.more) hint('There are more: run it again.');
}

async function changed(
  api: ApiClient,
  seen: NotificationViewDto,
  deed: string,
  body: object,
): Promise<NotificationViewDto> {
  const request = { body, headers: { 'if-match': `"${seen.version}"` } };
  return api
    .ask<NotificationViewDto>('POST', `${pathOf(seen.id)}/${deed}`, request)
    .then(({ body: now }) => now, sinceThen(api, seen));
}

/** Where nothing fits there is nothing to do; ids that are all wrong are a mistake. */
function nothing(verb: Verb, { leave }: Chosen, json: boolean, ids: readonly string[]): void {
  if (ids.length > 0)
    throw new AppError('notification-unknown', 'There is no notification with any of these ids.', {
      hint: 'Find them: parley notifications list',
    });
  if (!json) leftLines(leave, ({ id, why }) => `${id} is left alone: ${why}`).forEach(hint);
  print(json, [], [`Nothing to ${verb}.`]);
}

export interface ResolveOptions {
  delivered: boolean;
  notDelivered: boolean;
  reason?: string;
  json: boolean;
}

/** A person's word on what nobody else knows. */
export async function resolveNotification(
  id: string,
  options: ResolveOptions & Consent,
  command: Command,
): Promise<void> {
  const { delivered, notDelivered, json } = options;
  if (delivered === notDelivered) command.error('parley: Say what was found out: --delivered or --not-delivered.');
  const api = ApiClient.fromEnvironment();
  const seen = await api.get<NotificationViewDto>(pathOf(id));
  if (!seen.may.includes('resolve'))
    throw new AppError('notification-state', `Notification ${id} is ${seen.state}: there is nothing to resolve.`, {
      cause: new Error(localTimes(seen.standing)),
      hint: `Look at it: parley notifications show ${id}`,
    });
  const reason = await reasonFor(options.reason, options, command);
  const now = await changed(api, seen, 'resolution', {
    outcome: delivered ? 'delivered' : 'not-delivered',
    reason,
  });
  print(json, now, [`notification ${id} ${now.state}`]);
  if (!delivered && !json) hint(`To send it anew: parley notifications resend ${id}`);
}

/** Has the address of one tried again that a provider refused for good. */
export async function unmarkNotification(
  id: string,
  { json, ...options }: { reason?: string; json: boolean } & Consent,
  command: Command,
): Promise<void> {
  const reason = await reasonFor(options.reason, options, command);
  const { body } = await ApiClient.fromEnvironment().ask<NotificationViewDto>('POST', `${pathOf(id)}/unmarking`, {
    body: { reason },
  });
  print(json, body, [`the address of notification ${id} is tried again`]);
  if (json) return;
  if (body.may.includes('resend')) hint(`To send it anew: parley notifications resend ${id}`);
  else if (body.data === null) hint('What it said is gone: have the system that asked for it make a new one.');
}
