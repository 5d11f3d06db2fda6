import type { DeadLetterViewDto } from '../../messaging/triage';
import { AppError } from '../../platform/errors';
import type { ApiClient } from '../api-client';
import { localTime } from '../terminal/words';
import { pathOf } from './show';

/** For what the API refuses since the message was changed: the same, and who did what to it since it was looked at. */
export const sinceThen =
  (api: ApiClient, seen: DeadLetterViewDto) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof AppError) || error.code !== 'version-stale') throw error;
    const now = await api.get<DeadLetterViewDto>(pathOf(seen.id));
    throw new AppError(error.code, `Message ${seen.id} was changed meanwhile, and this changed nothing.`, {
      cause: new Error(changesOf(seen, now)),
      hint: `Look at it: parley dead-letters show ${seen.id}`,
    });
  };

/** Who did what between two looks at a message, in words. */
export function changesOf(seen: DeadLetterViewDto, now: DeadLetterViewDto): string {
  const known = new Map(seen.edits.map((edit) => [edit.id, edit]));
  const edits = now.edits.flatMap(({ id, state, madeBy, madeAt, decidedBy, decidedAt, reason }) => {
    const before = known.get(id);
    if (!before) return [`${madeBy} edited it at ${localTime(madeAt)}: ${reason}.`];
    return before.state === state ? [] : [`${decidedBy} ${state} edit ${id} at ${localTime(decidedAt)}.`];
  });
  const replay = now.replayId !== seen.replayId && now.replayId ? [`Replay ${now.replayId} released it.`] : [];
  const state = now.state === seen.state ? [] : [`It was ${seen.state} and is ${now.state}${endOf(now)}.`];
  const told = [...edits, ...replay, ...state];
  return told.length > 0 ? told.join(' ') : `Its version was ${seen.version} and is ${now.version}.`;
}

const endOf = ({ resolvedBy, resolvedAt, resolution }: DeadLetterViewDto): string =>
  resolvedBy === null ? '' : `, by ${resolvedBy} at ${localTime(resolvedAt)}: ${resolution}`;
