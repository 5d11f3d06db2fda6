import { type Database, LostRace, query, type Tx } from '../platform/database';
import { NonRetriableError } from '../platform/errors';
import type { Caller } from '../staff';
import { type EventFault, eventFault } from './domain/event-fault';
import type { NotificationKind } from './domain/kind';
import type { NotificationEvent } from './domain/notification';
import { kindOf } from './kinds/catalogue';
import { type NotificationNote, notesOfOrder } from './reading/notes';
import { withoutReceiver } from './reading/receiver-mask';
import { readAudience } from './raising/audience';
import { dataText, insertNotifications, newNotification, type NewNotification } from './raising/new-notification';

/** What became of a request. `known`: it was asked for before, in the same words. `reused`: in other words, and nothing was changed. */
export type RequestOutcome = { outcome: 'made' | 'known' | 'reused' } | { outcome: 'refused'; fault: EventFault };

interface Planned {
  /** Rows of each event, in the order of the events. */
  rows: NewNotification[][];
  /** What is wrong with an event, by its place. */
  faults: Map<number, EventFault>;
}

/** How the other rooms tell what happened. */
export class Notifications {
  constructor(
    private readonly database: Database,
    private readonly kinds: (name: string) => NotificationKind | undefined = kindOf,
  ) {}

  /**
   * Makes the notifications of these events in the caller's transaction: one for each receiver and channel that subscribed, or the one that
   * the event names. What an earlier call made under the same event stays as it is. Resolves with how many are new. Costs one statement, and
   * a second one where somebody is told. Throws a {@link NonRetriableError} before anything is written when an event is not fit
   * ({@link fault}) or names a receiver that is not there; `notification-id-reused` where a requestHash is not what it was.
   */
  async raise(tx: Tx, events: readonly NotificationEvent[], now: Date): Promise<number> {
    const planned = await this.plan(tx, events, now);
    for (const [n, fault] of planned.faults) throw refusal(events[n] as NotificationEvent, fault);
    const made = await this.write(tx, planned.rows.flat(), now);
    const requests = planned.rows.flat().filter(({ requestHash }) => requestHash !== null);
    if (requests.some((row) => !made.has(row.id)) && (await reused(tx, requests)).size > 0)
      throw new NonRetriableError(
        'notification-id-reused',
        'Something else was asked for under this id before; a new request needs a new one.',
      );
    return made.size;
  }

  /**
   * {@link raise} for what happened together: who would be told of more than `most` of these over one channel is told once, what `summary` makes
   * of them. Its event's id is to be another one for other events.
   */
  async raiseTogether(
    tx: Tx,
    events: readonly NotificationEvent[],
    { most, summary }: { most: number; summary: (of: readonly NotificationEvent[]) => NotificationEvent },
    now: Date,
  ): Promise<number> {
    const planned = await this.plan(tx, events, now);
    for (const [n, fault] of planned.faults) throw refusal(events[n] as NotificationEvent, fault);
    const rows = waysOf(events, planned.rows).flatMap(({ of, to }) => {
      if (of.length <= most) return to;
      const event = summary(of);
      const fault = this.fault(event);
      if (fault) throw refusal(event, fault);
      return to.slice(0, 1).map((row) => this.inPlaceOf(row, event, now));
    });
    return (await this.write(tx, rows, now)).size;
  }

  /**
   * {@link raise} for what other systems ask for, each with its requestHash: an outcome for each, in the order given. What is refused or
   * reused has written nothing; the others stand.
   */
  async request(
    tx: Tx,
    events: readonly (NotificationEvent & { requestHash: string })[],
    now: Date,
  ): Promise<RequestOutcome[]> {
    const { rows, faults } = await this.plan(tx, events, now);
    const made = await this.write(tx, firstOfEach(rows.flat()), now);
    const others = await reused(tx, rows.flat());
    return events.map((event, n): RequestOutcome => {
      const fault = faults.get(n);
      if (fault) return { outcome: 'refused', fault };
      if (others.has(requestKey(event.id, event.requestHash))) return { outcome: 'reused' };
      // Told twice in one call: the first of them made it.
      return { outcome: rows[n]?.some(({ id }) => made.delete(id)) ? 'made' : 'known' };
    });
  }

  /** What became of an order's notifications, oldest first: at most 500. Receivers are masked for who may not know them. */
  async ofOrder(orderNumber: string, by: Pick<Caller, 'partners'>): Promise<NotificationNote[]> {
    return (await notesOfOrder(this.database, orderNumber)).map((note) => withoutReceiver(note, by.partners));
  }

  /** What is wrong with an event by itself, asked of nobody; whether its receiver exists shows when it is raised. */
  fault(event: NotificationEvent): EventFault | undefined {
    return eventFault(this.kinds(event.kind), event);
  }

  private async plan(tx: Tx, events: readonly NotificationEvent[], now: Date): Promise<Planned> {
    const faults = new Map<number, EventFault>();
    events.forEach((event, n) => {
      const fault = this.fault(event);
      if (fault) faults.set(n, fault);
    });
    const fit = events.filter((_, n) => !faults.has(n));
    const audience = await readAudience(tx, fit, now);
    const rows = events.map((event, n) => {
      const kind = this.kinds(event.kind);
      if (!kind || faults.has(n)) return [];
      const targets = audience.of(kind, event);
      if (Array.isArray(targets)) {
        const data = targets.length > 0 ? dataText(event.data) : '';
        return targets.map((target) => newNotification(kind, event, target, data, now));
      }
      faults.set(n, targets);
      return [];
    });
    return { rows, faults };
  }

  private inPlaceOf(row: NewNotification, event: NotificationEvent, now: Date): NewNotification {
    const kind = this.kinds(event.kind) as NotificationKind;
    return newNotification(kind, event, { ...row, notBefore: row.nextAttemptAt }, dataText(event.data), now);
  }

  private write(tx: Tx, rows: NewNotification[], now: Date): Promise<Set<string>> {
    return rows.length > 0 ? insertNotifications(tx, rows, now) : Promise.resolve(new Set<string>());
  }
}

/** What goes to one receiver (or address) over one channel: the events, and the row for each. */
function waysOf(events: readonly NotificationEvent[], rows: readonly NewNotification[][]) {
  const told = events.flatMap((event, n) => (rows[n] ?? []).map((row) => ({ event, row })));
  const ways = Map.groupBy(told, ({ row: { channel, receiver, address } }) => `${channel} ${receiver ?? address}`);
  return [...ways.values()].map((way) => ({ of: way.map(({ event }) => event), to: way.map(({ row }) => row) }));
}

const requestKey = (eventId: string, hash: string) => `${hash} ${eventId}`;

/** Of several requests under one id in one call the first counts. */
function firstOfEach(rows: readonly NewNotification[]): NewNotification[] {
  const first = new Map<string, NewNotification>();
  for (const row of rows) if (!first.has(row.eventId)) first.set(row.eventId, row);
  return [...first.values()];
}

/**
 * Of these requests, those under whose id something else was asked for. A later statement than the insert: what another transaction wrote
 * meanwhile has committed, and is seen here.
 */
async function reused(tx: Tx, rows: readonly NewNotification[]): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const found = await query<{ eventId: string; hash: string }>(
    tx,
    `SELECT event_id AS "eventId", encode(request_hash, 'hex') AS hash FROM notification
     WHERE event_id = ANY(:ids::text[]) AND request_hash IS NOT NULL`,
    { ids: rows.map(({ eventId }) => eventId) },
  );
  const hashes = new Map(found.map(({ eventId, hash }) => [eventId, hash]));
  // Retention took it between the two statements: whoever asks again makes it anew.
  if (rows.some(({ eventId }) => !hashes.has(eventId))) throw new LostRace('a settled request was deleted meanwhile');
  return new Set(
    rows.flatMap(({ eventId, requestHash }) => {
      const hash = requestHash?.toString('hex') ?? '';
      return hashes.get(eventId) === hash ? [] : [requestKey(eventId, hash)];
    }),
  );
}

const refusal = (event: NotificationEvent, { code, pointer, detail }: EventFault) =>
  new NonRetriableError(code, `An event of kind ${event.kind} can't be told: at ${pointer}, ${detail}.`, {
    violations: [{ pointer, detail }],
  });
