import type { Command } from 'commander';
import type { DeadLetterViewDto } from '../../messaging/triage';
import { AppError } from '../../platform/errors';
import { ApiClient } from '../api-client';
import { bulk, printBulk } from '../bulk';
import { hint, print } from '../output';
import { agreed, type Consent } from '../terminal/consent';
import { counted } from '../terminal/words';
import { pathOf } from './show';
import { sinceThen } from './since-then';

type Verdict = 'approve' | 'refuse';

/** A second person's word on an edit; without an id on the one that waits for it. */
export async function decideEdit(
  verdict: Verdict,
  id: string,
  editId: string | undefined,
  { reason, json }: { reason?: string; json: boolean },
): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const edit = editId ?? (await pendingOf(api, id));
  const path = `${pathOf(id)}/edits/${edit}/${verdict === 'approve' ? 'approval' : 'refusal'}`;
  const { body } = await api.ask<DeadLetterViewDto>('POST', path, { body: { reason } });
  print(json, body, [`message ${id}: edit ${edit} ${verdict === 'approve' ? 'approved' : 'refused'}`]);
  if (!json) hint(`Next: parley dead-letters ${verdict === 'approve' ? 'replay' : 'show'} ${id}`);
}

async function pendingOf(api: ApiClient, id: string): Promise<string> {
  const { edits } = await api.get<DeadLetterViewDto>(pathOf(id));
  const pending = edits.find(({ state }) => state === 'pending');
  if (pending) return pending.id;
  throw new AppError('edit-unknown', `No edit of message ${id} waits for a second person.`, {
    hint: `Its edits: parley dead-letters show ${id}`,
  });
}

/** Discards what was looked at: what somebody changed since then stays as it is. */
export async function discardDeadLetters(
  ids: readonly string[],
  options: Consent & { reason: string; json: boolean },
  command: Command,
): Promise<void> {
  const { reason, json } = options;
  const api = ApiClient.fromEnvironment();
  const seen = new Map<string, Awaited<ReturnType<typeof look>>>();
  const unseen = new Map<string, Error>();
  const looked = await bulk([...new Set(ids)], async (id) => {
    try {
      seen.set(id, await look(api, id));
    } catch (error) {
      unseen.set(id, error as Error);
      throw error;
    }
  });
  if (ids.length > 1) {
    const question = `Discard ${counted(seen.size, 'message')}?`;
    await agreed({ plan: planOf([...seen.values()].map(({ body }) => body)), question }, options, command);
  }
  const all = looked.outcomes.map(({ id }) => id);
  const outcomes = await bulk(all, async (id) => {
    const found = seen.get(id);
    // Nobody agreed to what was not shown, also where it could be had now.
    if (!found) throw unseen.get(id) ?? new Error('It was not looked at.');
    const { body, etag = '' } = found;
    const request = { body: { reason }, headers: { 'if-match': etag } };
    await api.ask('POST', `${pathOf(id)}/discard`, request).catch(sinceThen(api, body));
  });
  printBulk(json, outcomes);
  const done = outcomes.outcomes.find(({ result }) => result === 'done');
  if (done && !json) hint(`What waited behind follows. To have one back: parley dead-letters restore ${done.id}`);
}

const look = (api: ApiClient, id: string) => api.ask<DeadLetterViewDto>('GET', pathOf(id));

const planOf = (letters: readonly DeadLetterViewDto[]): string[] => [
  `${counted(letters.length, 'message')} would be discarded; what waits behind them follows`,
  ...letters.map(({ id, partner, key, state, code, held }) => {
    const holds = held > 0 ? `, ${held} later ones wait` : '';
    return `  ${id} ${partner}/${key ?? 'no key'} ${state}${code ? ` (${code})` : ''}${holds}`;
  }),
];

/** Makes a dead letter again of what was discarded. */
export async function restoreDeadLetter(
  id: string,
  { reason, json }: { reason: string; json: boolean },
): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const { body: seen, etag = '' } = await look(api, id);
  const request = { body: { reason }, headers: { 'if-match': etag } };
  const restored = await api
    .ask<DeadLetterViewDto>('POST', `${pathOf(id)}/restore`, request)
    .then(({ body }) => body, sinceThen(api, seen));
  print(json, restored, [`message ${id} ${restored.state}`]);
  if (!json) hint(`Next: parley dead-letters replay ${id}`);
}
