import { query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { versionStale } from '../../platform/http';
import type { NotificationState } from '../domain/notification';
import { clearMark } from '../receivers/marks';
import { type Scope, UUID } from '../reading/notification-list';
import { NOTIFICATION_COLUMNS, type StoredNotification } from '../reading/stored-notification';
import { resend } from './resend';

/** One notification that somebody looked at. */
export interface Seen {
  id: string;
  /** The version that was seen. */
  version: number;
  /** Partners that the caller may touch; null: all. */
  scope: Scope;
}

/** Settled, or settled as far as machines can. */
const RESENDABLE: readonly NotificationState[] = ['sent', 'failed', 'expired', 'cancelled', 'unknown'];

/**
 * What staff do about single notifications, each in the caller's transaction under the row's lock: a notifier that claims it at the same time
 * waits, or is waited for. All throw `notification-unknown`, `version-stale`, and `notification-state` where it doesn't stand so.
 */
export class NotificationDesk {
  /** Ends one that waits. One that is being sent can't be called back. */
  async cancel(tx: Tx, seen: Seen, now: Date): Promise<StoredNotification> {
    const { state } = await locked(tx, seen);
    if (state === 'sending')
      throw notThere('It is being sent just now, and nobody can call it back: look again in a minute.');
    if (state !== 'pending') throw notThere(`It is ${state}: there is nothing to cancel.`);
    return settle(tx, seen.id, {
      state: 'cancelled',
      code: 'cancelled-by-staff',
      detail: 'Staff cancelled it.',
      now,
    });
  }

  /** Says what became of one of which no machine could tell. */
  async resolve(tx: Tx, seen: Seen, outcome: 'delivered' | 'not-delivered', now: Date): Promise<StoredNotification> {
    const { state } = await locked(tx, seen);
    if (state !== 'unknown') throw notThere(`It is ${state}: only what became of an unknown one is for people to say.`);
    const [settled, detail] =
      outcome === 'delivered'
        ? (['sent', 'Staff found that it was delivered.'] as const)
        : (['failed', 'Staff found that it was not delivered.'] as const);
    return settle(tx, seen.id, { state: settled, code: `resolved-${outcome}`, detail, now });
  }

  /**
   * Sends it again as a new notification that names the old one: to where its receiver is reached now, with words made anew, and with all
   * attempts and the time that its kind has. The old one stays as it is. Resolves with the new one. Throws `notification-secret` (what it said is
   * gone), `receiver-unknown` and `receiver-unreachable` too.
   */
  async resend(tx: Tx, seen: Seen, now: Date): Promise<StoredNotification> {
    const old = await locked(tx, seen);
    if (!RESENDABLE.includes(old.state)) throw notThere(`It is ${old.state}, so it is going to be sent as it is.`);
    return find(tx, await resend(tx, old, seen.scope, now));
  }

  /**
   * Has the address tried again that it went to and that a provider refused for good: for one that carries a secret, which can't be sent anew,
   * nothing else does. The notification stays as it is, so no version is asked for. Resolves with it.
   */
  async unmark(tx: Tx, seen: Omit<Seen, 'version'>): Promise<StoredNotification> {
    const row = await visible(tx, seen);
    if (await clearMark(tx, row.channel, row.address)) return row;
    throw notThere(
      'Its address is not marked, so there is nothing to unmark.',
      row.secret
        ? 'Have the system that asked for it make a new one.'
        : 'What is sent there is tried: where it failed, send it anew.',
    );
  }
}

async function locked(tx: Tx, { version, ...seen }: Seen): Promise<StoredNotification> {
  const row = await visible(tx, seen);
  if (row.version !== version) throw versionStale();
  return row;
}

/** Under its row's lock. */
async function visible(tx: Tx, { id, scope }: Omit<Seen, 'version'>): Promise<StoredNotification> {
  const unknown = new NonRetriableError('notification-unknown', 'There is no such notification.');
  if (!UUID.test(id)) throw unknown;
  const [row] = await query<StoredNotification>(
    tx,
    `SELECT ${NOTIFICATION_COLUMNS} FROM notification n WHERE n.id = :id FOR UPDATE OF n`,
    { id },
  );
  if (!row || (scope !== null && (row.partner === null || !scope.includes(row.partner)))) throw unknown;
  return row;
}

async function find(tx: Tx, id: string): Promise<StoredNotification> {
  const [row] = await query<StoredNotification>(
    tx,
    `SELECT ${NOTIFICATION_COLUMNS} FROM notification n WHERE n.id = :id`,
    { id },
  );
  return row as StoredNotification;
}

async function settle(
  tx: Tx,
  id: string,
  { state, code, detail, now }: { state: NotificationState; code: string; detail: string; now: Date },
): Promise<StoredNotification> {
  const [row] = await query<StoredNotification>(
    tx,
    `UPDATE notification n SET state = :state, code = :code, settled_at = :now, version = version + 1, doubtful = doubtful AND state = 'pending',
       detail = :detail || CASE WHEN doubtful AND state = 'pending' THEN ' Its last attempt may have gone out.' ELSE '' END
     WHERE n.id = :id RETURNING ${NOTIFICATION_COLUMNS}`,
    { id, state, code, detail, now },
  );
  return row as StoredNotification;
}

const notThere = (message: string, hint?: string) =>
  new NonRetriableError('notification-state', message, hint === undefined ? {} : { hint });
