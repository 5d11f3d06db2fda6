import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import type { DeadLetterViewDto } from '../../messaging/triage';
import type { TimelineDto } from '../../orders';
import { AppError } from '../../platform/errors';
import { ApiClient } from '../api-client';
import { unmaskReason } from '../options';
import { hint, print } from '../output';
import { viewLines } from './view';

export const pathOf = (id: string): string => `/v1/dead-letters/${id}`;

export async function showDeadLetter(
  id: string,
  { raw, json, ...options }: { raw?: string; json: boolean; unmask: boolean; reason?: string },
  command: Command,
): Promise<void> {
  const reason = unmaskReason(options, command);
  const api = ApiClient.fromEnvironment();
  if (raw !== undefined) return writeRaw(api, id, { to: raw, reason }, command);
  const letter =
    reason === undefined
      ? await api.get<DeadLetterViewDto>(pathOf(id))
      : (await api.ask<DeadLetterViewDto>('POST', `${pathOf(id)}/unmasking`, { body: { reason } })).body;
  const timeline = letter.timeline === null ? null : await timelineOf(api, letter.timeline);
  print(json, { ...letter, orderTimeline: timeline }, viewLines(letter, timeline));
  if (json) return;
  const pending = letter.edits.find(({ state }) => state === 'pending');
  if (letter.state === 'dead' && pending) hint(`Next: parley dead-letters approve ${id}, or refuse`);
  else if (letter.state === 'dead') hint(`Next: parley dead-letters replay ${id}, edit ${id} or discard ${id}`);
  else if (letter.state === 'discarded') hint(`To have it back: parley dead-letters restore ${id} --reason "…"`);
}

/** Null where the record names no order, or the key is confined to other areas. */
async function timelineOf(api: ApiClient, path: string): Promise<TimelineDto | null> {
  try {
    return await api.get<TimelineDto>(path);
  } catch (error) {
    if (error instanceof AppError && ['order-unknown', 'forbidden'].includes(error.code)) return null;
    throw error;
  }
}

/** The value's bytes as they came, and nothing else. It may hold personal data: the file is for its owner alone. */
async function writeRaw(
  api: ApiClient,
  id: string,
  { to, reason }: { to: string; reason: string | undefined },
  command: Command,
): Promise<void> {
  if (to === '-' && process.stdout.isTTY)
    command.error('parley: Bytes of a partner are not written to a terminal: name a file, or send them on with "|".');
  const path = `${pathOf(id)}/value`;
  const bytes = await (reason === undefined ? api.bytes(path) : api.bytes(`${path}/unmasking`, { reason }));
  if (bytes === null) throw new AppError('value-missing', 'The record has no value: it is a tombstone.');
  if (to === '-') process.stdout.write(bytes);
  else await writeFile(to, bytes, { mode: 0o600 });
  if (to !== '-') hint(`${bytes.length} bytes written to ${to}`);
}
