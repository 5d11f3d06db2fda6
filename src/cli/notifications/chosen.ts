import type { Command } from 'commander';
import type { NotificationDto, NotificationViewDto } from '../../notifications';
import { AppError, messageOf } from '../../platform/errors';
import type { ApiClient } from '../api-client';
import { counted } from '../terminal/words';
import { receiverOf } from './list';
import { type SelectionOptions, selectionOf } from './selection';
import { pathOf } from './show';

/** Most that one command takes by options. */
const MOST = 1000;
/** Most that are named of those that are left alone: there may be as many as were sent anew ever. */
const MOST_LEFT = 50;

export type Verb = 'resend' | 'cancel';

/** Where nobody says a state: what support means by the word. */
const USUAL_STATE = { resend: 'failed', cancel: 'pending' } as const;

export interface Chosen {
  take: NotificationViewDto[];
  /** With why they are left alone. */
  leave: { id: string; why: string }[];
  more: boolean;
}

/** Ends with the code for wrong use unless ids are named, or options say which; not both. */
export function mustChoose(ids: readonly string[], options: SelectionOptions, command: Command): void {
  const filtered = Object.values(selectionOf(options)).some((value) => value !== undefined);
  if (filtered === ids.length > 0)
    command.error('parley: Name notifications by id, or say which ones: --order, --state, --kind, --receiver, ….');
}

/**
 * Looks at each notification that is named, or that fits. Of those that only fit, the ones that were sent anew before are left alone: a command
 * that is run again after it was broken off must send nothing twice. It reads on behind them, so that it comes to the end of whatever number
 * when it is run again and again.
 */
export async function choose(
  api: ApiClient,
  verb: Verb,
  ids: readonly string[],
  options: SelectionOptions,
): Promise<Chosen> {
  const chosen: Chosen = { take: [], leave: [], more: false };
  if (ids.length > 0) {
    for (const id of new Set(ids)) await look(api, id, chosen, () => undefined, ids.length === 1);
    return chosen;
  }
  const query = { state: USUAL_STATE[verb], ...given(selectionOf(options)) };
  for await (const entry of api.all<NotificationDto>('/v1/notifications', query)) {
    const why = resentBefore(verb, entry);
    if (why !== undefined) chosen.leave.push({ id: entry.id, why });
    else if (chosen.take.length === MOST) return { ...chosen, more: true };
    else await look(api, entry.id, chosen, (seen) => objection(verb, seen));
  }
  return chosen;
}

const given = (selection: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));

const resentBefore = (verb: Verb, { resends }: Pick<NotificationDto, 'resends'>): string | undefined =>
  verb === 'resend' && resends.length > 0 ? `sent anew as ${resends.join(', ')}` : undefined;

function objection(verb: Verb, seen: NotificationViewDto): string | undefined {
  if (seen.may.includes(verb)) return resentBefore(verb, seen);
  const isSecret = verb === 'resend' && seen.data === null;
  return isSecret ? 'what it said is gone: whoever asked for it makes a new one' : `it is ${seen.state}`;
}

/** Adds it to what is taken, or to what is left alone. */
async function look(
  api: ApiClient,
  id: string,
  { take, leave }: Chosen,
  objected: (seen: NotificationViewDto) => string | undefined,
  isOnlyOne = false,
): Promise<void> {
  try {
    const seen = await api.get<NotificationViewDto>(pathOf(id));
    const why = objected(seen);
    if (why === undefined) take.push(seen);
    else leave.push({ id, why });
  } catch (error) {
    if (isOnlyOne || !(error instanceof AppError) || error.code !== 'notification-unknown') throw error;
    leave.push({ id, why: messageOf(error) });
  }
}

const DEED = { resend: 'sent anew, each under an id of its own', cancel: 'cancelled' } as const;

/** What would happen, for the question whether it may. */
export function planLines(verb: Verb, { take, leave, more }: Chosen): string[] {
  const before = (seen: NotificationViewDto) =>
    verb === 'resend' && seen.resends.length > 0 ? `, sent anew before as ${seen.resends.join(', ')}` : '';
  return [
    `${counted(take.length, 'notification')} would be ${DEED[verb]}${more ? `, the newest of more than ${MOST}` : ''}`,
    ...take.map((seen) => {
      const about = seen.orderNumber ?? seen.partner ?? seen.eventId;
      const what = `${seen.kind} about ${about} to ${receiverOf(seen)} over ${seen.channel}`;
      return `  ${seen.id} ${seen.state}: ${what}${before(seen)}`;
    }),
    ...(leave.length > 0 ? ['left alone:', ...leftLines(leave, ({ id, why }) => `  ${id} ${why}`)] : []),
  ];
}

/** What is left alone, one a line; of very many some. */
export const leftLines = (leave: Chosen['leave'], line: (one: Chosen['leave'][number]) => string): string[] => [
  ...leave.slice(0, MOST_LEFT).map(line),
  ...(leave.length > MOST_LEFT ? [`  and ${leave.length - MOST_LEFT} more`] : []),
];
