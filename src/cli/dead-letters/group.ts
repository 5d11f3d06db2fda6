import { text as readText } from 'node:stream/consumers';
import type { FailureGroupDto } from '../../messaging/triage';
import { AppError } from '../../platform/errors';
import { ApiClient } from '../api-client';
import { print } from '../output';

const pathOf = (fingerprint: string): string => `/v1/dead-letter-groups/${encodeURIComponent(fingerprint)}`;

/** Says who works on a cause, or leaves a note; null takes it away. */
async function change(
  fingerprint: string,
  body: { assignee?: string | null; note?: string | null },
  json: boolean,
): Promise<void> {
  const api = ApiClient.fromEnvironment();
  const { etag = '' } = await api.ask<FailureGroupDto>('GET', pathOf(fingerprint));
  const { body: group } = await api
    .ask<FailureGroupDto>('PATCH', pathOf(fingerprint), { body, headers: { 'if-match': etag } })
    .catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'version-stale') throw error;
      throw new AppError(
        error.code,
        `Somebody changed group ${fingerprint} at the same moment; this changed nothing.`,
        {
          hint: 'Look at it: parley dead-letters list --groups',
        },
      );
    });
  const { assignee, note } = group;
  print(json, group, [`group ${fingerprint}: ${assignee ?? 'nobody'} works on it; note: ${note ?? 'none'}`]);
}

export const assignGroup = (fingerprint: string, { to, json }: { to?: string; json: boolean }): Promise<void> =>
  change(fingerprint, { assignee: to ?? null }, json);

export async function noteGroup(fingerprint: string, { text, json }: { text?: string; json: boolean }): Promise<void> {
  const note = text === '-' ? (await readText(process.stdin)).trimEnd() : text;
  await change(fingerprint, { note: note ?? null }, json);
}
