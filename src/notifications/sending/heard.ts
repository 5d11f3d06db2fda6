import { storable } from '../../platform/database';
import { withoutAddress } from '../channels/addresses';
import type { Outcome } from '../domain/crash-policy';
import type { NotificationKind } from '../domain/kind';
import type { ClaimedNotification } from '../domain/notification';
import type { Report } from './breaker';

export function saidBy(outcome: Outcome): { code: string | null; detail: string | null } {
  return {
    code: 'code' in outcome ? (outcome.code ?? null) : null,
    detail: 'detail' in outcome ? (outcome.detail ?? null) : null,
  };
}

export const referenceOf = (outcome: Outcome): string | null =>
  'reference' in outcome && outcome.reference !== undefined ? storable(outcome.reference).slice(0, 500) : null;

/**
 * A timeout counts as the provider's fault. What it answers when it is asked says nothing about its sending: of faults in a row between which it
 * is asked, answers would leave none, and a log that tells nothing would shut off a provider that sends.
 */
export function reportOf(outcome: Outcome, trial: boolean): Pick<Report, 'says' | 'retryAfterMs' | 'ours'> {
  const isFault = outcome.kind === 'unknown' || ('fault' in outcome && outcome.fault === true);
  const ours = 'ours' in outcome && outcome.ours === true;
  const retryAfterMs = isFault && 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
  return { says: isFault ? 'fault' : ours ? 'nothing' : saidOfSending(outcome, trial), retryAfterMs, ours };
}

function saidOfSending({ kind }: Outcome, trial: boolean): Report['says'] {
  switch (kind) {
    case 'accepted':
      return 'accepted';
    case 'later':
    case 'refused':
      return 'answered';
    case 'found':
    case 'not-found':
      return trial ? 'answered' : 'nothing';
    case 'unknown':
    case 'unavailable':
    case 'not-sent':
      return 'nothing';
  }
}

/** Whoever answers may quote the address, and what was said. */
export function withoutPersonalData<T extends { detail: string | null }>(
  said: T,
  { address, data }: Pick<ClaimedNotification, 'address' | 'data'>,
  { secret = false }: Pick<NotificationKind, 'secret'>,
): T {
  if (said.detail === null) return said;
  const secrets = secret ? Object.values(data).filter((value) => typeof value === 'string' && value.length > 2) : [];
  const detail = secrets.reduce<string>((text, one) => text.replaceAll(String(one), '[secret]'), said.detail);
  return { ...said, detail: storable(withoutAddress(detail, address)).slice(0, 500) };
}
