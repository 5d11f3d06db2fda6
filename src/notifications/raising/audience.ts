import { query, type Tx } from '../../platform/database';
import type { EventFault } from '../domain/event-fault';
import type { NotificationKind } from '../domain/kind';
import type { Channel, NotificationEvent } from '../domain/notification';
import { type QuietHours, quietUntil } from '../domain/quiet-hours';
import { ADDRESSES } from '../domain/receiver';
import { ADDRESS_COLUMNS, QUIET_COLUMNS, type QuietColumns, quietOf } from '../receivers/receiver-rows';

/** Where a notification goes. `notBefore`: its receiver wants quiet until then. */
export interface Target {
  receiver: string | null;
  channel: Channel;
  address: string;
  notBefore: Date | null;
}

interface Row extends QuietColumns {
  id: string;
  /** null: of a receiver that an event names. */
  kind: string | null;
  channel: Channel | null;
  partners: string[] | null;
  email: string | null;
  phone: string | null;
  webhookUrl: string | null;
}

const COLUMNS = `${ADDRESS_COLUMNS}, ${QUIET_COLUMNS}`;

/** Who hears of these events: one statement, whatever their number, and no row of a receiver is locked. */
export async function readAudience(tx: Tx, events: readonly NotificationEvent[], now: Date): Promise<Audience> {
  const open = events.filter(({ to }) => !to);
  const named = events.flatMap(({ to }) => (to && 'receiver' in to ? [to.receiver] : []));
  if (open.length === 0 && named.length === 0) return new Audience([], now);
  const rows = await query<Row>(
    tx,
    `SELECT r.id, s.kind, s.channel, s.partners, ${COLUMNS} FROM notification_subscription s JOIN notification_receiver r ON r.id = s.receiver
     WHERE s.kind = ANY(:kinds::text[]) AND (s.partners IS NULL OR s.partners && :partners::text[])
     UNION ALL
     SELECT r.id, NULL, NULL, NULL, ${COLUMNS} FROM notification_receiver r WHERE r.id = ANY(:named::text[])`,
    {
      kinds: [...new Set(open.map(({ kind }) => kind))],
      partners: [...new Set(open.flatMap(({ partner }) => partner ?? []))],
      named: [...new Set(named)],
    },
  );
  return new Audience(rows, now);
}

/** Receivers as they were when {@link readAudience} looked. */
export class Audience {
  private readonly subscribed = new Map<string, Row[]>();
  private readonly named = new Map<string, Row>();
  private readonly quiet = new Map<string, Date | null>();

  constructor(
    rows: readonly Row[],
    private readonly now: Date,
  ) {
    for (const row of rows) {
      if (row.kind === null) this.named.set(row.id, row);
      else this.subscribed.set(row.kind, [...(this.subscribed.get(row.kind) ?? []), row]);
    }
  }

  /** All that an event is told to, or what is wrong with the destination that it names. */
  of(kind: NotificationKind, { to, partner }: NotificationEvent): Target[] | EventFault {
    if (!to) return this.subscribers(kind, partner);
    if ('address' in to) return [{ receiver: null, channel: to.channel, address: to.address, notBefore: null }];
    const receiver = this.named.get(to.receiver);
    if (!receiver) return fault('notification-receiver-unknown', '/to/receiver', 'there is no such receiver');
    const channel = to.channel ?? kind.channels.find((one) => receiver[ADDRESSES[one]] !== null);
    const target = channel && this.target(kind, receiver, channel);
    if (target) return [target];
    const ways = (to.channel ? [to.channel] : kind.channels).join(', ');
    return fault('notification-receiver-unreachable', '/to/receiver', `this receiver has no address for ${ways}`);
  }

  private subscribers(kind: NotificationKind, partner: string | undefined): Target[] {
    const targets: Target[] = [];
    for (const row of this.subscribed.get(kind.name) ?? []) {
      const concerns = row.partners === null || (partner !== undefined && row.partners.includes(partner));
      const target =
        concerns && row.channel && kind.channels.includes(row.channel) && this.target(kind, row, row.channel);
      if (target) targets.push(target);
    }
    return targets;
  }

  private target(kind: NotificationKind, row: Row, channel: Channel): Target | undefined {
    const address = row[ADDRESSES[channel]];
    if (address === null) return undefined;
    const notBefore = kind.quietHours === 'respect' ? this.quietUntil(row.id, quietOf(row)) : null;
    return { receiver: row.id, channel, address, notBefore };
  }

  /** Looked up once a receiver: to ask what a clock shows costs more than all else here. */
  private quietUntil(id: string, quiet: QuietHours | null): Date | null {
    let until = this.quiet.get(id);
    if (until === undefined) this.quiet.set(id, (until = quiet && quietUntil(quiet, this.now)));
    return until;
  }
}

const fault = (code: string, pointer: string, detail: string): EventFault => ({ code, pointer, detail });
