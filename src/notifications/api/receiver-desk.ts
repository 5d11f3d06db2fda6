import type { Clock } from '../../platform/clock';
import { type Database, query, type Tx } from '../../platform/database';
import { NonRetriableError } from '../../platform/errors';
import { audit, type Caller } from '../../staff';
import type { WebhookSecrets } from '../channels/webhook/webhook-secrets';
import type { Receiver, ReceiverDraft } from '../domain/receiver';
import type { PutReceiver, Receivers } from '../receivers/receivers';
import type { ReceiverBodyDto } from './receiver-body.dto';
import type { ReceiverDto } from './receiver.dto';
import { meantReceiver, type Surroundings, violationsOf } from './receiver-rules';
import { isReceiverId, knowsReceivers, mayKnow, type ReceiverViews } from './receiver-views';
import { receiverInvalid, receiversNotAllowed, receiverUnknown } from './refusals';

/** What a caller who puts a receiver has seen: a version; that there is none (`absent`); or they don't say. */
export type SeenReceiver = number | 'absent' | undefined;

export interface PutRequest {
  id: string;
  body: ReceiverBodyDto;
  seen: SeenReceiver;
  by: Caller;
}

export interface PutAnswer extends PutReceiver {
  /** Of a webhook that has had none. */
  webhookSecret: string | null;
}

/** Who is told: changed by staff, each change with its entry of the audit in one transaction. */
export class ReceiverDesk {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly receivers: Receivers,
    private readonly secrets: WebhookSecrets,
    private readonly surroundings: Surroundings,
    private readonly views: ReceiverViews,
  ) {}

  /**
   * Makes or replaces a receiver. A new webhook gets its first secret, which is committed before anybody is told: an answer that is lost costs a
   * rotation, whereas one that ran ahead of its transaction could tell a secret that never signs anything.
   * Throws `receivers-not-allowed`, `receiver-invalid`, `receiver-unknown`, `precondition-missing`, `version-stale`.
   */
  put({ id, body, seen, by }: PutRequest): Promise<PutAnswer> {
    if (!knowsReceivers(by)) return Promise.reject(receiversNotAllowed());
    if (!isReceiverId(id)) return Promise.reject(receiverInvalid([{ pointer: 'id', detail: ID_RULE }]));
    return this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const stored = await this.receivers.locked(tx, id);
      if (seen === undefined && stored) throw unseen(id);
      const { draft, violations } = meantReceiver(id, body, stored);
      violations.push(...violationsOf(draft, stored, this.surroundings));
      if (violations.length > 0) throw receiverInvalid(violations);
      const put = await this.receivers.put(tx, draft, typeof seen === 'number' ? seen : null, now);
      if (put.before?.webhookUrl && draft.webhookUrl === null) await forgetSecrets(tx, id);
      const first = draft.webhookUrl === null ? undefined : await this.secrets.first(tx, id, now);
      const { made, moved, cancelled } = put;
      const changed = put.before ? changedMembers(put.before, draft) : membersOf(draft);
      const detail = { changed, moved, cancelled, ...(first && { webhookSecret: first.number }) };
      const action = `notification-receiver.${made ? 'make' : 'replace'}`;
      await audit(tx, { by, action, object: objectOf(id), detail }, now);
      return { ...put, webhookSecret: first?.secret ?? null };
    });
  }

  /** Throws `receiver-unknown`, `version-stale`. */
  remove(id: string, seen: number, by: Caller): Promise<void> {
    if (!mayKnow(by, id)) return Promise.reject(receiverUnknown());
    return this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const cancelled = await this.receivers.remove(tx, id, seen, now);
      const action = 'notification-receiver.remove';
      await audit(tx, { by, action, object: objectOf(id), detail: { cancelled } }, now);
    });
  }

  /** Answered with its addresses when the entry of the audit is committed. Throws `receiver-unknown`. */
  async unmask(id: string, reason: string, by: Caller): Promise<ReceiverDto> {
    const shown = await this.views.unmasked(id, by);
    const detail = { shown: (['email', 'phone', 'webhookUrl'] as const).filter((member) => shown[member] !== null) };
    const entry = { by, action: 'notification-receiver.unmask', object: objectOf(id), reason, detail };
    await this.database.transaction((tx) => audit(tx, entry, this.clock.now()));
    return shown;
  }
}

const ID_RULE = 'must be a lower-case letter, then up to 63 lower-case letters, digits or dashes';

/** How the audit names a receiver. */
export const objectOf = (id: string): string => `notification-receiver/${id}`;

/** Who had the old webhook must not be able to sign for the next one. */
async function forgetSecrets(tx: Tx, receiver: string): Promise<void> {
  await query(tx, 'DELETE FROM webhook_secret WHERE receiver = :receiver', { receiver });
}

const MEMBERS = ['name', 'email', 'phone', 'webhookUrl', 'quietHours', 'subscriptions'] as const;

/** Names of members, never what they hold. */
const membersOf = (draft: ReceiverDraft): string[] =>
  MEMBERS.filter((member) => (Array.isArray(draft[member]) ? draft[member].length > 0 : draft[member] !== null));

const changedMembers = (before: Receiver, draft: ReceiverDraft): string[] =>
  MEMBERS.filter((member) => JSON.stringify(before[member]) !== JSON.stringify(draft[member]));

const unseen = (id: string): NonRetriableError =>
  new NonRetriableError('precondition-missing', `There is a receiver ${id}, and the header If-Match is missing.`, {
    violations: [{ pointer: 'If-Match', detail: 'must be the ETag of what you looked at' }],
  });
