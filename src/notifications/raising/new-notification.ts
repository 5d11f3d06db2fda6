import { query, storable, type Tx } from '../../platform/database';
import { type NotificationKind, URGENCIES } from '../domain/kind';
import type { Channel, NotificationEvent } from '../domain/notification';
import { providerOf } from '../domain/provider-name';
import { kindOf } from '../kinds/catalogue';
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

/** What rows of one call mostly have in common: passed once for all that have the same, for to write and read arrays was a third of a call. */
const SHARED = [
  ...(['kind', 'channel', 'provider', 'receiver', 'address', 'partner', 'requestHash', 'secret'] as const),
  ...(['happenedAt', 'nextAttemptAt', 'expiresAt', 'resendOf'] as const),
];

/** A row is compared with so many that have its address: all differ where each event has a time of its own. */
const COMPARED = 8;

/** Rows whose shared part stands for that of all, and for every row the place of its own among them, from 1. */
function sharedBy(rows: readonly NewNotification[]): { distinct: NewNotification[]; places: number[] } {
  const distinct: NewNotification[] = [];
  // A key made of all that is shared would cost more than to compare it.
  const known = new Map<string, number[]>();
  const places = rows.map((row) => {
    const near = known.get(row.address) ?? [];
    const same = near.find((place) => isShared(distinct[place - 1] as NewNotification, row));
    if (same !== undefined) return same;
    const place = distinct.push(row);
    if (near.unshift(place) > COMPARED) near.pop();
    known.set(row.address, near);
    return place;
  });
  return { distinct, places };
}

const isShared = (one: NewNotification, other: NewNotification): boolean =>
  SHARED.every((name) => {
    const [a, b] = [one[name], other[name]];
    return a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime());
  });

/**
 * Writes what is new, in the order of ids: two transactions that tell the same events meet in the same order. What is there already stays
 * as it is; a transaction that is writing the same is waited for. Returns the ids that are new.
 */
export async function insertNotifications(tx: Tx, rows: NewNotification[], now: Date): Promise<Set<string>> {
  rows.sort((one, other) => (one.id < other.id ? -1 : 1));
  const column = <K extends keyof NewNotification>(name: K, of = rows) => of.map((row) => row[name]);
  const { distinct, places } = sharedBy(rows);
  const made = await query<{ id: string }>(tx, INSERT, {
    now,
    providers: [...new Set(column('provider', distinct))].sort(),
    ids: column('id'),
    eventIds: column('eventId'),
    orders: column('orderNumber'),
    places,
    data: `[${column('data').join(',')}]`,
    kinds: column('kind', distinct),
    channels: column('channel', distinct),
    rowProviders: column('provider', distinct),
    receivers: column('receiver', distinct),
    addresses: column('address', distinct),
    partners: column('partner', distinct),
    hashes: column('requestHash', distinct),
    secrets: column('secret', distinct).map(String),
    happened: column('happenedAt', distinct),
    next: column('nextAttemptAt', distinct),
    expires: column('expiresAt', distinct),
    resendOf: column('resendOf', distinct),
    urgencies: column('kind', distinct).map((kind) => URGENCIES.indexOf(kindOf(kind)?.urgency ?? 'normal')),
  });
  return new Set(made.map(({ id }) => id));
}

/**
 * `webhook/…` is of the channel webhook, the others are named as their channels. Every row has its shared part and the other way round, so the FULL
 * JOIN joins as a plain one would; but never in a nested loop, which a kept plan, made for a handful, would choose for thousands.
 * What is due by the clock of whoever raises it is due by the database's, by which it is claimed: a host's clock that is ahead delays nothing.
 */
export const INSERT = `
  WITH known AS (
    INSERT INTO notification_provider (name, channel) SELECT p.name, split_part(p.name, '/', 1) FROM unnest(:providers::text[]) p(name)
    WHERE NOT EXISTS (SELECT FROM notification_provider k WHERE k.name = p.name) ON CONFLICT DO NOTHING)
  INSERT INTO notification (id, event_id, kind, channel, provider, receiver, address, partner, order_number, data, request_hash, secret,
    happened_at, created_at, next_attempt_at, expires_at, resend_of, urgency)
  SELECT n.id, n.event_id, s.kind, s.channel, s.provider, s.receiver, s.address, s.partner, n.order_number, n.data, s.request_hash, s.secret,
    s.happened_at, :now::timestamptz, CASE WHEN s.next_attempt_at > :now::timestamptz THEN s.next_attempt_at
      ELSE least(s.next_attempt_at, clock_timestamp()) END, s.expires_at, s.resend_of, s.urgency
  FROM ROWS FROM (unnest(:ids::uuid[], :eventIds::text[], :orders::text[], :places::int[]), jsonb_array_elements(:data::jsonb)) WITH ORDINALITY
    n(id, event_id, order_number, place, data, turn)
  FULL JOIN unnest(:kinds::text[], :channels::text[], :rowProviders::text[], :receivers::text[], :addresses::text[], :partners::text[],
    :hashes::bytea[], :secrets::boolean[], :happened::timestamptz[], :next::timestamptz[], :expires::timestamptz[], :resendOf::uuid[],
    :urgencies::smallint[])
    WITH ORDINALITY s(kind, channel, provider, receiver, address, partner, request_hash, secret, happened_at, next_attempt_at, expires_at,
      resend_of, urgency, place) ON s.place = n.place
  ORDER BY n.turn ON CONFLICT DO NOTHING RETURNING id`;
