import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { PutReceiverDto, ReceiverDto, ReceiverTestDto, RotatedSecretDto } from '../../../notifications';
import { AppError } from '../../../platform/errors';
import { ApiClient } from '../../api-client';
import { textOf } from '../../input-file';
import { hint, print, tell } from '../../output';
import { agreed, type Consent } from '../../terminal/consent';
import { localTime } from '../../terminal/words';
import { changesOf } from './changes';
import { parseReceiverFile, UNREADABLE } from './file';
import { pathOf } from './read';

const HOUR_MS = 3_600_000;
const HAND_OVER =
  'The secret is shown this once and kept nowhere else: hand it over on a way that only the receiver reads.';

export interface SetOptions {
  file: string;
  plan: boolean;
  json: boolean;
}

/** Makes a receiver what its file says; what somebody changed since it was looked at stays as it is. */
export async function setReceiver(id: string, { file, plan, json }: SetOptions): Promise<void> {
  const body = parseReceiverFile(await textOf(file, UNREADABLE));
  const api = ApiClient.fromEnvironment();
  const before = await found(api, id);
  const changes = changesOf(before?.body, body);
  if (plan || changes.length === 0) {
    const summary = changes.length === 0 ? 'nothing to do' : before ? 'would be changed' : 'would be made';
    print(json, { receiver: id, exists: before !== undefined, changes: changes.map((line) => line.trim()) }, [
      ...changes,
      `receiver ${id}: ${summary}`,
    ]);
    if (!json && changes.length > 0)
      hint('Nothing is changed. The API checks it when it is done: the same without --plan');
    return;
  }
  const headers: Record<string, string> = before ? { 'if-match': before.etag ?? '' } : { 'if-none-match': '*' };
  const { body: now } = await api.ask<PutReceiverDto>('PUT', pathOf(id), { body, headers }).catch(since(id));
  const { webhookSecret, version } = now;
  const lines = [...changes, `receiver ${id}: ${before ? 'changed' : 'made'} (version ${version})`];
  if (webhookSecret === null) print(json, now, lines);
  else await tell(json, now, [...lines, `webhook secret ${webhookSecret}`], lost(id));
  if (json) return;
  if (webhookSecret !== null) hint(HAND_OVER);
  hint(`Try it: parley notifications receivers test ${id}`);
}

async function found(api: ApiClient, id: string): Promise<{ body: ReceiverDto; etag: string | undefined } | undefined> {
  return api.ask<ReceiverDto>('GET', pathOf(id)).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'receiver-unknown') return undefined;
    throw error;
  });
}

/** Who works on the same receiver at the same moment is not overwritten. */
const since =
  (id: string) =>
  (error: unknown): never => {
    if (!(error instanceof AppError) || error.code !== 'version-stale') throw error;
    throw new AppError(error.code, `Receiver ${id} was changed meanwhile, and this changed nothing.`, {
      hint: `Look at it: parley notifications receivers show ${id}`,
    });
  };

/** What is told once is made before anybody can read it: who did not read it makes another. */
const lost = (id: string) => ({
  message: 'Nobody read the secret, and it is told once.',
  hint: `It signs what is sent to ${id}. Make another: parley notifications receivers rotate-secret ${id}`,
});

export async function removeReceiver(
  id: string,
  options: Consent & { json: boolean },
  command: Command,
): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const { body, etag = '' } = await api.ask<ReceiverDto>('GET', pathOf(id));
  const plan = [`- receiver ${id} (${body.name}): its addresses go for good; what waits to be sent to it is cancelled`];
  await agreed({ plan, question: `Remove ${id}?` }, options, command);
  await api.ask('DELETE', pathOf(id), { headers: { 'if-match': etag } }).catch(since(id));
  print(options.json, { receiver: id, removed: true }, [`receiver ${id} removed`]);
}

export interface RotateSecretOptions {
  oldValidFor: number;
  json: boolean;
}

export async function rotateSecret(id: string, { oldValidFor, json }: RotateSecretOptions): Promise<void> {
  const { body } = await ApiClient.fromEnvironment().ask<RotatedSecretDto>('POST', `${pathOf(id)}/webhook-secret`, {
    body: { oldValidForHours: oldValidFor / HOUR_MS },
  });
  await tell(json, body, [`webhook secret ${body.secret}`], lost(id));
  if (json) return;
  hint(HAND_OVER);
  if (body.oldValidUntil !== null)
    hint(`Until ${localTime(body.oldValidUntil)} the one before it signs, too: put the new one in place by then.`);
}

export async function enableWebhook(id: string, { reason, json }: { reason: string; json: boolean }): Promise<void> {
  const path = `${pathOf(id)}/webhook-enabling`;
  const { body } = await ApiClient.fromEnvironment().ask<ReceiverDto>('POST', path, { body: { reason } });
  print(json, body, [`receiver ${id}: its webhook is enabled`]);
  if (!json) hint(`What waits is sent now. How it does: parley notifications providers`);
}

/** A message to each of its addresses, which goes the way of all. */
export async function testReceiver(id: string, { json }: { json: boolean }): Promise<void> {
  const { body } = await ApiClient.fromEnvironment().ask<ReceiverTestDto>('POST', `${pathOf(id)}/test`, {
    ...{ body: {}, headers: { 'idempotency-key': randomUUID() } },
  });
  const { notifications } = body;
  print(
    json,
    body,
    notifications.map(({ id: made, channel }) => `${channel.padEnd(7)}  ${made}`),
  );
  if (!json)
    hint(`See whether they went out: parley notifications list --receiver ${id} --limit ${notifications.length}`);
}
