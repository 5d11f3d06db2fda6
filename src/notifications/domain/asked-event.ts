import type { NotificationRequest } from '../../contracts';
import type { EventFault } from './event-fault';
import type { NotificationKind } from './kind';
import { CHANNELS, type Channel, type Destination, type NotificationEvent } from './notification';

/** What a request asks for, or what is wrong with it; `pointer` leads into the document. Whether its receiver exists is not known here. */
export type Asked = NotificationEvent | EventFault;

/** Where a fault of an event is found in the document that the event was made from. */
const POINTERS: Readonly<Record<string, string>> = {
  '/id': '/notificationId',
  '/kind': '/kind',
  '/to': '/receiver',
  '/to/receiver': '/receiver',
  '/to/channel': '/channel',
  '/to/address': '/address',
};

/** A fault of the event, as one of the document. */
export const inDocument = ({ code, pointer, detail }: EventFault): EventFault => ({
  code,
  // Its data is a list there, and what is missing has no place in it.
  pointer: POINTERS[pointer] ?? '/data',
  detail,
});

/** Prefix of the events of other systems: their ids never meet those of ours. */
const eventIdOf = (notificationId: string): string => `request/${notificationId}`;

/**
 * The event that a request tells of.
 * @param kind that it names; undefined where there is none of that name
 * @param askable names of the kinds that may be asked for, for the words of a refusal
 * @param now bounds when it happened: a clock that is ahead would make it worth something for longer than its kind says
 */
export function askedEvent(
  request: NotificationRequest,
  kind: NotificationKind | undefined,
  askable: readonly string[],
  now: Date,
): Asked {
  if (kind?.source !== 'request')
    return fault('kind-unknown', '/kind', `other systems may ask for ${askable.join(', ')}`);
  const to = destinationOf(request);
  if ('code' in to) return to;
  const at = instantOf(request.issuedAt);
  if (!at) return fault('time-unfit', '/issuedAt', NO_TIME);
  const expiresAt = request.expiresAt === undefined ? undefined : instantOf(request.expiresAt);
  if (request.expiresAt !== undefined && !expiresAt) return fault('time-unfit', '/expiresAt', NO_TIME);
  if (expiresAt && expiresAt <= at) return fault('time-unfit', '/expiresAt', 'must be later than issuedAt');
  const data = dataOf(request, kind);
  if ('code' in data) return data;
  return {
    id: eventIdOf(request.notificationId),
    kind: kind.name,
    at: at < now ? at : now,
    ...{ partner: request.partner, orderNumber: request.orderNumber, to, expiresAt },
    data: data.values,
  };
}

const NO_TIME = 'must be a time that exists';

function destinationOf({ receiver, channel, address }: NotificationRequest): Destination | EventFault {
  const known = CHANNELS.find((one) => one === channel);
  if (channel !== undefined && !known) return unfitChannel(CHANNELS);
  if (receiver !== undefined && address === undefined) return { receiver, channel: known };
  if (receiver !== undefined)
    return fault('destination-unclear', '/address', 'must not be there beside receiver: a registered one has its own');
  if (address === undefined)
    return fault('destination-unclear', '/receiver', 'is missing; without one, channel and address say who is told');
  if (known === undefined)
    return fault('destination-unclear', '/channel', 'is missing; an address needs the channel that it is one of');
  // A webhook's secret is kept with its receiver: an address alone could not check who calls it.
  if (known === 'webhook') return unfitChannel(['email', 'sms']);
  return { channel: known, address };
}

const unfitChannel = (fit: readonly Channel[]): EventFault =>
  fault('channel-unfit', '/channel', `must be one of ${fit.join(', ')}`);

/** The list as an object, each name once and one that the kind knows: a misspelt one would silently be missing from what is told. */
function dataOf(
  { data, orderNumber }: NotificationRequest,
  { name: kind, example }: NotificationKind,
): { values: Record<string, string> } | EventFault {
  const values = new Map<string, string>();
  for (const [n, { name, value }] of data.entries()) {
    if (!Object.hasOwn(example, name))
      return fault('data-unknown', `/data/${n}/name`, `${kind} knows ${Object.keys(example).join(', ')}`);
    if (values.has(name)) return fault('data-repeated', `/data/${n}/name`, 'is there a second time');
    values.set(name, value);
  }
  // Said once, it need not be said again for the text.
  if (orderNumber !== undefined && Object.hasOwn(example, 'orderNumber') && !values.has('orderNumber'))
    values.set('orderNumber', orderNumber);
  return { values: Object.fromEntries(values) };
}

/** The form allows seconds and zones that no clock shows. */
function instantOf(text: string): Date | undefined {
  const time = new Date(text.toUpperCase());
  return Number.isNaN(time.getTime()) ? undefined : time;
}

const fault = (code: string, pointer: string, detail: string): EventFault => ({
  code: `notification-${code}`,
  pointer,
  detail,
});
