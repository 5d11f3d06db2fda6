import type { ReplayDto } from '../../messaging/triage';
import { AppError } from '../../platform/errors';
import type { ApiClient } from '../api-client';
import { hint, print } from '../output';
import { reportOutcome } from './outcome';
import { watched } from './watch';

export interface Start {
  planId: string;
  reason: string;
  pace: number | undefined;
  /** Do not wait for its end. */
  detach: boolean;
  json: boolean;
}

/** Starts a plan and stays until every message has its end; the plan's id starts it once, however often that is asked for. */
export async function started(api: ApiClient, { planId, reason, pace, detach, json }: Start): Promise<void> {
  const replay = await api
    .ask<ReplayDto>('POST', '/v1/replays', { body: { planId, reason, pacePerSecond: pace } })
    .then(({ body }) => body, planAgain);
  if (detach) {
    print(json, replay, [`replay ${replay.id} ${replay.state}: ${replay.summary}`]);
    if (!json) hint(`Watch it: parley replays watch ${replay.id}`);
    return;
  }
  await reportOutcome(api, await watched(api, replay.id), json);
}

function planAgain(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'plan-changed') throw error;
  throw new AppError(error.code, error.message, {
    cause: error.cause,
    hint: 'Nothing was sent. Plan again: parley dead-letters replay …, with the same choice of messages.',
  });
}
