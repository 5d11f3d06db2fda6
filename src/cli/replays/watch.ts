import { setTimeout as delay } from 'node:timers/promises';
import type { ReplayDto } from '../../messaging/triage';
import { AppError } from '../../platform/errors';
import type { ApiClient } from '../api-client';
import { hint } from '../output';
import { Progress } from '../terminal/progress';
import { length } from '../terminal/words';

const EVERY_MS = 500;
/** The API may be restarted meanwhile: the replay goes on without it. */
const UNREACHABLE_MS = 120_000;

export const pathOf = (id: string): string => `/v1/replays/${encodeURIComponent(id)}`;

const ended = ({ state }: ReplayDto): boolean => ['done', 'cancelled', 'expired'].includes(state);

/** Shows progress until the replay has its end. Ctrl-C leaves it running, and says how to look at it again. */
export async function watched(api: ApiClient, id: string): Promise<ReplayDto> {
  const progress = new Progress();
  const left = () => {
    progress.clear();
    hint(`The replay goes on without this command. Watch it: parley replays watch ${id}`);
    hint(`Stop it: parley replays pause ${id} --reason "…", or cancel in place of pause.`);
  };
  // Before the listener that ends the process with 130.
  process.prependOnceListener('SIGINT', left);
  try {
    for (;;) {
      const replay = await found(api, id);
      const { planned, waiting, processed, failedAgain, skipped } = replay.outcomes;
      const settled = processed + failedAgain + skipped;
      progress.show(settled, settled + planned + waiting, wordsOf(replay));
      if (ended(replay)) return replay;
      await delay(EVERY_MS);
    }
  } finally {
    process.off('SIGINT', left);
    progress.clear();
  }
}

async function found(api: ApiClient, id: string): Promise<ReplayDto> {
  const deadline = performance.now() + UNREACHABLE_MS;
  for (;;) {
    try {
      return await api.get<ReplayDto>(pathOf(id));
    } catch (error) {
      const passing = error instanceof AppError && (error.code === 'api-unreachable' || error.retriable);
      if (!passing || performance.now() > deadline) throw error;
      await delay(EVERY_MS);
    }
  }
}

function wordsOf({ state, summary, ratePerSecond, etaSeconds }: ReplayDto): string {
  if (state !== 'running') return `${state}: ${summary}`;
  const eta = etaSeconds === null || etaSeconds === 0 ? [] : [`${length(etaSeconds)} left`];
  return [summary, `${ratePerSecond}/s`, ...eta].join(' · ');
}
