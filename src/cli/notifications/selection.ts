import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Channel, NotificationDto } from '../../notifications';
import { partnerId, text } from '../options';

type State = NotificationDto['state'];

// Not through the door of the room, which would load database and Kafka for commands that never ask them.
export const STATES: readonly State[] = ['pending', 'sending', 'sent', 'failed', 'unknown', 'cancelled', 'expired'];
export const CHANNELS: readonly Channel[] = ['email', 'sms', 'webhook'];

/** Which notifications, as options say. */
export interface SelectionOptions {
  order?: string;
  state?: State;
  kind?: string;
  channel?: Channel;
  receiver?: string;
  partner?: string;
}

export const selecting = (command: Command): Command =>
  command
    .option('--order <number>', 'about this order', text)
    .addOption(new Option('--state <state>', 'in this state').choices(STATES))
    .option('--kind <name>', 'of this kind; see "parley notifications kinds"', named)
    .addOption(new Option('--channel <channel>', 'over this channel').choices(CHANNELS))
    .option('--receiver <id>', 'to this receiver', named)
    .option('--partner <id>', 'about this partner', partnerId);

/** In the words of the API. */
export const selectionOf = ({ order, state, kind, channel, receiver, partner }: SelectionOptions) => ({
  ...{ order, state, kind, channel, receiver, partner },
});

/** Id of a receiver, or name of a kind. */
export function named(raw: string): string {
  if (/^[a-z][a-z0-9-]{0,63}$/.test(raw)) return raw;
  throw new InvalidArgumentError('a lower-case letter, then up to 63 lower-case letters, digits or dashes');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Id of a notification, as it was shown. */
export function notificationId(raw: string): string {
  if (UUID.test(raw)) return raw.toLowerCase();
  throw new InvalidArgumentError(
    'an id as "parley notifications list" shows them: 0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55',
  );
}

export const notificationIds = (raw: string, before: string[] = []): string[] => [...before, notificationId(raw)];
