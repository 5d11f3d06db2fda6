import type { Command } from 'commander';
import type { NotificationDto, NotificationViewDto } from '../../notifications';
import { AppError, messageOf } from '../../platform/errors';
import type { ApiClient } from '../api-client';
import { firstOf } from '../listing';
import { counted } from '../terminal/words';
import { receiverOf } from './list';
import { type SelectionOptions, selectionOf } from './selection';
import { pathOf } from './show';

/** Most that one command takes by options. */
const MOST = 1000;

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
 * that is run again after it was broken off must send nothing twice.
 */
export async function choose(
  api: ApiClient,
  verb: Verb,
  ids: readonly string[],
  options: SelectionOptions,
): Promise<Chosen> {
  if (ids.length > 0) return { ...(await look(api, [...new Set(ids)], () => undefined)), more: false };
  const query = { state: USUAL_STATE[verb], ...given(selectionOf(options)) };
  const { items, more } = await firstOf<NotificationDto>(api, '/v1/notifications', MOST, query);
  const found = items.map(({ id }) => id);
  return { ...(await look(api, found, (seen) => objection(verb, seen))), more };
}

const given = (selection: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));

function objection(verb: Verb, { resends, state, may }: NotificationViewDto): string | undefined {
  if (!may.includes(verb)) return `it is ${state}`;
  return verb === 'resend' && resends.length > 0 ? `sent anew as ${resends.join(', ')}` : undefined;
}

async function look(
  api: ApiClient,
  ids: readonly string[],
  objected: (seen: NotificationViewDto) => string | undefined,
): Promise<Pick<Chosen, 'take' | 'leave'>> {
  const take: NotificationViewDto[] = [];
  const leave: Chosen['leave'] = [];
  for (const id of ids) {
    try {
      const seen = await api.get<NotificationViewDto>(pathOf(id));
      const why = objected(seen);
      if (why === undefined) take.push(seen);
      else leave.push({ id, why });
    } catch (error) {
      if (ids.length === 1 || !(error instanceof AppError) || error.code !== 'notification-unknown') throw error;
      leave.push({ id, why: messageOf(error) });
    }
  }
  return { take, leave };
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
    ...(leave.length > 0 ? ['left alone:', ...leave.map(({ id, why }) => `  ${id} ${why}`)] : []),
  ];
}
