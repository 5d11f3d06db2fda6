import type { ReplayDto, ReplayItemDto } from '../../messaging/triage';
import type { ApiClient } from '../api-client';
import { hint, print } from '../output';
import { firstOf } from '../listing';
import type { Column } from '../terminal/table';
import { facts, table } from '../terminal/table';
import { counted } from '../terminal/words';
import { pathOf } from './watch';

const MOST_SHOWN = 20;
const PARTLY_FAILED = 3;

export const ITEMS: Column<ReplayItemDto>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'PARTNER', of: ({ partner }) => partner },
  { title: 'ORDER', of: ({ key }) => key, most: 30 },
  { title: 'OUTCOME', of: ({ outcome }) => outcome },
  { title: 'WHY', of: ({ code, detail }) => [code, detail].filter(Boolean).join(': ') },
];

/**
 * Prints what became of each message. Exit 3 when some failed again, or were not sent though the plan says so: somebody cancelled it, nobody
 * started it in time, or something came between.
 */
export async function reportOutcome(api: ApiClient, replay: ReplayDto, json: boolean): Promise<void> {
  const { id, state, plan, outcomes } = replay;
  const path = `${pathOf(id)}/items`;
  const failed = await firstOf<ReplayItemDto>(api, path, MOST_SHOWN, { outcome: 'failed-again' });
  const unplanned = outcomes.skipped - (plan?.skipped ?? []).reduce((sum, { count }) => sum + count, 0);
  print(json, { ...replay, failed: failed.items }, [
    ...facts([
      ['replay', `${id} ${state}`],
      ['processed', outcomes.processed],
      ['failed again', outcomes.failedAgain],
      ['skipped', outcomes.skipped],
      ['waiting', outcomes.waiting || null],
      ['to go', outcomes.planned || null],
    ]),
    ...(failed.items.length > 0 ? ['', ...table(ITEMS, failed.items)] : []),
  ]);
  const isOver = state === 'cancelled' || state === 'expired';
  if (outcomes.failedAgain > 0 || isOver || unplanned > 0) process.exitCode = PARTLY_FAILED;
  if (json) return;
  if (failed.more) hint(`Only the first ${MOST_SHOWN} are shown: parley replays show ${id} --items failed-again`);
  if (unplanned > 0 && !isOver)
    hint(
      `${counted(unplanned, 'message')} of the plan could not be sent. Why: parley replays show ${id} --items skipped`,
    );
  if (state === 'expired') hint('The plan was not started in time. Make it again: parley dead-letters replay …');
  const [first] = failed.items;
  if (first)
    hint(`${counted(outcomes.failedAgain, 'message')} failed again. Next: parley dead-letters show ${first.id}`);
}
