import { hash } from 'node:crypto';
import { query, type Tx } from '../../../platform/database';
import { NonRetriableError } from '../../../platform/errors';
import { type Inbox, inboxKey } from '../inbox';
import type { ParkedEdit } from '../parked-desk';
import { lockMessages, lockOne } from './locked-message';

/** Keeps an edit of a dead letter, and takes its message id, so that no record of the partner's can have it. */
export async function addEdit(tx: Tx, inbox: Inbox, edit: ParkedEdit, version: number, now: Date): Promise<string> {
  const { channelId, partition, offset } = await lockOne(tx, edit.parkedId, version, 'dead');
  const document = JSON.stringify(edit.document);
  const entry = {
    channelId,
    messageId: edit.messageId,
    hash: hash('sha256', document, 'hex').slice(0, 32),
    partition,
    offset: BigInt(offset),
  };
  if (!(await inbox.take(tx, [entry], now)).has(inboxKey(channelId, edit.messageId))) {
    throw new NonRetriableError('message-id-taken', `The message id ${edit.messageId} is another message's.`);
  }
  const isApproved = edit.state === 'approved';
  const [row] = await query<{ id: string }>(
    tx,
    `INSERT INTO parked_edit (parked_id, message_id, document, diff, reason, state, made_by, made_at, decided_by, decided_at)
     VALUES (:parkedId, :messageId, :document::jsonb, :diff::jsonb, :reason, :state, :madeBy, :now, :decidedBy, :decidedAt) RETURNING id`,
    {
      ...{ parkedId: edit.parkedId, messageId: edit.messageId, document, diff: JSON.stringify(edit.diff) },
      ...{ reason: edit.reason, state: edit.state, madeBy: edit.madeBy, now },
      ...{ decidedBy: isApproved ? edit.madeBy : null, decidedAt: isApproved ? now : null },
    },
  );
  const { id } = row as { id: string };
  await changed(tx, edit.parkedId, isApproved ? id : null);
  return id;
}

/** The message before its edit, as {@link addEdit} locks them. */
export async function decideEdit(
  tx: Tx,
  editId: string,
  verdict: 'approved' | 'refused',
  by: string,
  now: Date,
): Promise<void> {
  const [found] = await query<{ parkedId: string }>(
    tx,
    `SELECT parked_id AS "parkedId" FROM parked_edit WHERE id = :editId`,
    { editId },
  );
  const [message] = found ? await lockMessages(tx, [found.parkedId]) : [];
  const [edit] = await query<{ state: string; madeBy: string }>(
    tx,
    `SELECT state, made_by AS "madeBy" FROM parked_edit WHERE id = :editId FOR UPDATE`,
    { editId },
  );
  if (!message || !edit) throw new NonRetriableError('edit-unknown', `There is no edit ${editId}.`);
  if (edit.state !== 'pending')
    throw new NonRetriableError('edit-decided', `The edit ${editId} is ${edit.state} already.`);
  if (verdict === 'approved' && edit.madeBy === by) {
    throw new NonRetriableError('edit-own', 'Who made an edit cannot agree to it: a second person does.');
  }
  if (verdict === 'approved' && message.state !== 'dead') {
    throw new NonRetriableError('parked-not-dead', `The message ${message.id} is ${message.state}, not dead.`);
  }
  await query(tx, `UPDATE parked_edit SET state = :verdict, decided_by = :by, decided_at = :now WHERE id = :editId`, {
    ...{ verdict, by, now, editId },
  });
  await changed(tx, message.id, verdict === 'approved' ? editId : null);
}

/** @param editId the edit that is applied from now on; null: none of these */
async function changed(tx: Tx, parkedId: string, editId: string | null): Promise<void> {
  await query(
    tx,
    `UPDATE parked_inbound SET version = version + 1, edit_id = coalesce(:editId::bigint, edit_id) WHERE id = :parkedId`,
    { parkedId, editId },
  );
}
