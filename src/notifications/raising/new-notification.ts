import { query, storable, type Tx } from '../../platform/database';
import type { NotificationKind } from '../domain/kind';
import type { Channel, NotificationEvent } from '../domain/notification';
import { providerOf } from '../domain/provider-name';
import type { Target } from './audience';
import { notificationId } from './notification-id';

/** A row about to be written. */
export interface NewNotification {
  id: string;
  eventId: string;
  kind: string;
  channel: Channel;
  provider: string;
  receiver: string | null;
  address: string;
  partner: string | null;
  orderNumber: string | null;
  /** JSON text. */
  data: string;
  requestHash: Buffer | null;
  secret: boolean;
  happenedAt: Date;
  nextAttemptAt: Date;
  expiresAt: Date;
  resendOf: string | null;
}

export function newNotification(
  kind: NotificationKind,
  event: NotificationEvent,
  target: Target,
  data: string,
  now: Date,
): NewNotification {
  const worthless = event.at.getTime() + kind.expiresMs;
  return {
    id: notificationId(event.id, target.receiver ?? target.address, target.channel),
    eventId: event.id,
    kind: kind.name,
    channel: target.channel,
    provider: providerOf(target.channel, target.receiver),
    receiver: target.receiver,
    address: target.address,
    partner: event.partner ?? null,
    orderNumber: event.orderNumber ?? null,
    data,
    requestHash: event.requestHash === undefined ? null : Buffer.from(event.requestHash, 'hex'),
    secret: kind.secret === true,
    happenedAt: event.at,
    nextAttemptAt: target.notBefore ?? now,
    expiresAt: new Date(Math.min(worthless, event.expiresAt?.getTime() ?? worthless)),
    resendOf: null,
  };
}

/** NUL and half a surrogate pair, as JSON writes them; texts in data may come from partners, and PostgreSQL takes neither. */
const UNSTORABLE = /\\u0000|\\ud[89a-f]/;

export function dataText(data: NotificationEvent['data']): string {
  const text = JSON.stringify(data);
  return UNSTORABLE.test(text) ? JSON.stringify(data, (_, value: unknown) => clean(value)) : text;
}

const clean = (value: unknown) => (typeof value === 'string' ? storable(value) : value);

/**
 * Writes what is new, in the order of ids: two transactions that tell the same events meet in the same order. What is there already stays
 * as it is; a transaction that is writing the same is waited for. Returns the ids that are new.
 */
export async function insertNotifications(tx: Tx, rows: NewNotification[], now: Date): Promise<Set<string>> {
  rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  const column = <K extends keyof NewNotification>(name: K) => rows.map((row) => row[name]);
  const providers = new Map(rows.map(({ provider, channel }) => [provider, channel]));
  const made = await query<{ id: string }>(tx, INSERT, {
    now,
    providers: [...providers.keys()].sort(),
    ids: column('id'),
    eventIds: column('eventId'),
    kinds: column('kind'),
    channels: column('channel'),
    rowProviders: column('provider'),
    receivers: column('receiver'),
    addresses: column('address'),
    partners: column('partner'),
    orders: column('orderNumber'),
    data: column('data'),
    hashes: column('requestHash'),
    secrets: column('secret').map(String),
    happened: column('happenedAt'),
    next: column('nextAttemptAt'),
    expires: column('expiresAt'),
    resendOf: column('resendOf'),
  });
  return new Set(made.map(({ id }) => id));
}

/** `webhook/…` is of the channel webhook, the others are named as their channels. */
const INSERT = `
  WITH known AS (
    INSERT INTO notification_provider (name, channel) SELECT p.name, split_part(p.name, '/', 1) FROM unnest(:providers::text[]) p(name)
    WHERE NOT EXISTS (SELECT FROM notification_provider k WHERE k.name = p.name) ON CONFLICT DO NOTHING)
  INSERT INTO notification (id, event_id, kind, channel, provider, receiver, address, partner, order_number, data, request_hash, secret,
    happened_at, created_at, next_attempt_at, expires_at, resend_of)
  SELECT n.id, n.event_id, n.kind, n.channel, n.provider, n.receiver, n.address, n.partner, n.order_number, n.data, n.request_hash, n.secret,
    n.happened_at, :now, n.next_attempt_at, n.expires_at, n.resend_of
  FROM unnest(:ids::uuid[], :eventIds::text[], :kinds::text[], :channels::text[], :rowProviders::text[], :receivers::text[], :addresses::text[],
    :partners::text[], :orders::text[], :data::jsonb[], :hashes::bytea[], :secrets::boolean[], :happened::timestamptz[], :next::timestamptz[],
    :expires::timestamptz[], :resendOf::uuid[])
    n(id, event_id, kind, channel, provider, receiver, address, partner, order_number, data, request_hash, secret, happened_at, next_attempt_at,
      expires_at, resend_of)
  ON CONFLICT DO NOTHING RETURNING id`;
