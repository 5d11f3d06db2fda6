import type { NotificationNote } from '../../notifications';
import { count } from './words';

/** A line of an order's story about a notification; none of them shows an address. */
export type NotifiedStep =
  | 'notified'
  | 'notification-waiting'
  | 'notification-failed'
  | 'notification-unknown'
  | 'notification-cancelled'
  | 'notification-expired';

const WAYS: Readonly<Record<NotificationNote['channel'], string>> = { email: 'E-mail', sms: 'SMS', webhook: 'Webhook' };

const ABOUT: Readonly<Record<string, string>> = {
  'order-accepted': 'the acceptance',
  'order-rejected': 'the rejection',
  'order-changed': 'the acceptance with changes',
  'order-shipped': 'the despatch',
  'order-overdue': 'the overdue answer',
};

/** Who was told of a step, or is still to be; `at` is null while that is to come. */
export function notified(note: NotificationNote): { at: Date | null; step: NotifiedStep; text: string } {
  const to = note.receiver ?? 'the address that was asked for';
  const again = note.resendOf === null ? '' : ', sent anew by staff';
  const about = `${WAYS[note.channel]} to ${to} about ${ABOUT[note.kind] ?? note.kind}${again}`;
  const [step, text] = said(note);
  const at = step === 'notification-waiting' ? null : (note.settledAt ?? note.createdAt);
  return { at, step, text: `${about}: ${text}` };
}

function said(note: NotificationNote): [NotifiedStep, string] {
  const { state, doubtful, id } = note;
  const may = doubtful ? ', and may have gone out' : '';
  switch (state) {
    case 'pending':
    case 'sending':
      return ['notification-waiting', waiting(note)];
    case 'sent':
      return ['notified', 'sent.'];
    case 'unknown':
      return ['notification-unknown', `may have gone out or not; staff are to find out and resolve ${id}.`];
    case 'failed':
      return ['notification-failed', `failed${may}${reason(note)} (${id}).`];
    case 'cancelled':
      return ['notification-cancelled', `cancelled${reason(note)}.`];
    case 'expired':
      return ['notification-expired', `not sent in time${may}${reason(note)}.`];
  }
}

function waiting({ state, doubtful, attempts, nextAttemptAt, code }: NotificationNote): string {
  if (state === 'sending') return 'is being sent.';
  const tried = attempts === 0 ? '' : `, tried ${count(attempts, 'time')}`;
  const why = code === null ? '' : ` (${code})`;
  const doubt = doubtful ? ', may have gone out' : '';
  return `waits${tried}${why}${doubt}; due at ${nextAttemptAt.toISOString()}.`;
}

const reason = ({ code, detail }: NotificationNote): string => {
  const why = detail?.replace(/[.\s]+$/, '') ?? code;
  return why === null ? '' : `: ${why}`;
};
