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
 * A timeout counts as the provider's fault; so does a provider that can't say. That it answers questions says nothing about its sending: of faults in
 * a row between which it is asked they would leave none.
 */
export function reportOf(outcome: Outcome, trial: boolean): Pick<Report, 'says' | 'retryAfterMs'> {
  switch (outcome.kind) {
    case 'accepted':
      return { says: 'accepted', retryAfterMs: 0 };
    case 'later':
      return outcome.fault
        ? { says: 'fault', retryAfterMs: outcome.retryAfterMs ?? 0 }
        : { says: 'answered', retryAfterMs: 0 };
    case 'unknown':
    case 'unavailable':
      return { says: 'fault', retryAfterMs: 0 };
    case 'not-sent':
      return { says: 'nothing', retryAfterMs: 0 };
    case 'found':
    case 'not-found':
      return { says: trial ? 'answered' : 'nothing', retryAfterMs: 0 };
    case 'refused':
      return { says: 'answered', retryAfterMs: 0 };
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
