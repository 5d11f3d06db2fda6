import type { NotificationKind } from './kind';
import { addressFault } from './address';
import type { NotificationEvent } from './notification';

/** Why an event can't be told. `pointer` leads to the member of the event (RFC 6901), `detail` is a sentence without personal data. */
export interface EventFault {
  code: string;
  pointer: string;
  detail: string;
}

/** Longest id of an event, characters. */
const EVENT_ID_LENGTH = 300;

/**
 * What is wrong with an event by itself; whether its receiver exists is known to the database. Pure, so that whoever passes events on can
 * look before anything is written.
 * @param kind the one that it names; undefined where there is none of that name
 */
export function eventFault(kind: NotificationKind | undefined, event: NotificationEvent): EventFault | undefined {
  if (!/^[^\p{Cc}\p{Cs}]+$/u.test(event.id) || event.id.length > EVENT_ID_LENGTH)
    return fault('event-id', '/id', `must have 1 to ${EVENT_ID_LENGTH} printable characters`);
  if (!kind) return fault('kind-unknown', '/kind', 'there is no such kind of notification');
  const missing = kind.required.find((name) => !Object.hasOwn(event.data, name) || isNothing(event.data[name]));
  if (missing !== undefined)
    return fault('data-missing', `/data/${missing}`, `${kind.name} needs ${kind.required.join(', ')} in its data`);
  if (event.requestHash !== undefined && !/^([0-9a-f]{2})+$/.test(event.requestHash))
    return fault('request-hash', '/requestHash', 'must be hexadecimal');
  if (event.requestHash !== undefined && !event.to)
    return fault('destination-missing', '/to', 'whoever asks for a notification says who gets it');
  return event.to && destinationFault(kind, event.to);
}

function destinationFault(kind: NotificationKind, to: NonNullable<NotificationEvent['to']>): EventFault | undefined {
  const { channel } = to;
  if (channel !== undefined && !kind.channels.includes(channel))
    return fault('channel-unfit', '/to/channel', `${kind.name} goes by ${kind.channels.join(', ')}`);
  if ('receiver' in to) return undefined;
  const detail = addressFault(to.channel, to.address);
  return detail === undefined ? undefined : fault('address-unfit', '/to/address', detail);
}

const isNothing = (value: unknown) => value === undefined || value === null;

const fault = (code: string, pointer: string, detail: string): EventFault => ({
  code: `notification-${code}`,
  pointer,
  detail,
});
