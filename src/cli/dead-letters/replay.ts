import type { Command } from 'commander';
import type { ReplayDto } from '../../messaging/triage';
import { AppError } from '../../platform/errors';
import { ApiClient } from '../api-client';
import { hint, print } from '../output';
import { planLines } from '../replays/plan';
import { started } from '../replays/start';
import { agreed, canAsk, type Consent, reasonFor } from '../terminal/consent';
import { counted } from '../terminal/words';
import { type SelectionOptions, selectionOf } from './selection';

export interface ReplayOptions extends SelectionOptions, Consent {
  until?: string;
  all: boolean;
  pace?: number;
  includeSkipped: boolean;
  plan: boolean;
  reason?: string;
  detach: boolean;
  json: boolean;
}

/** The set is frozen while the API plans: of a large one that takes its time. */
const PLANNING_MS = 10 * 60_000;

/** Plans, shows the plan, asks, starts exactly that plan, and stays until every message has its end. */
export async function replayDeadLetters(
  ids: readonly string[],
  options: ReplayOptions,
  command: Command,
): Promise<void> {
  const { pace, detach, json, includeSkipped } = options;
  const selection = chosen(ids, options, command);
  if (!options.plan && !canAsk(options) && (!options.yes || options.reason === undefined))
    command.error('parley: Nothing is sent. Without a terminal to ask on, say --yes and --reason, or --plan.');
  const api = ApiClient.fromEnvironment();
  const { body: planned } = await api.ask<ReplayDto>('POST', '/v1/replays', {
    query: { plan: true },
    body: { selection, pacePerSecond: pace, includeSkipped },
    timeoutMs: PLANNING_MS,
  });
  const { id: planId, plan } = planned;
  const start = `parley replays start ${planId} --reason "…"`;
  const lines = planLines(planned);
  if (options.plan) {
    print(json, planned, lines);
    if (!json) hint(`Nothing is sent. To start exactly this, within a day: ${start}`);
    return;
  }
  const count = plan?.count ?? 0;
  if (count === 0) {
    lines.forEach(hint);
    if (plan && plan.unknownIds + plan.skipped.length === 0) return print(json, planned, ['Nothing to replay.']);
    throw new AppError('nothing-to-replay', 'Nothing is replayed: of what was named, nothing can be.', {
      hint: 'What was skipped because replaying it is advised against is replayed with --include-skipped; what is no dead letter never is.',
    });
  }
  const refused = `Nothing is sent. The plan can be started within a day: ${start}.`;
  const question = `Send ${counted(count, 'message')} again?`;
  await agreed({ plan: lines, question, refused }, options, command);
  const reason = await reasonFor(options.reason, options, command);
  await started(api, { planId, reason, pace, detach, json });
}

function chosen(ids: readonly string[], options: ReplayOptions, command: Command): Record<string, unknown> {
  const selection = { ...selectionOf(options), until: options.until };
  const filtered = Object.values(selection).some((value) => value !== undefined);
  if ([ids.length > 0, filtered, options.all].filter(Boolean).length !== 1)
    command.error('parley: Name messages by id, or say which ones: --group, --partner, --code, …; or --all.');
  return ids.length > 0 ? { ids: [...new Set(ids)] } : selection;
}
