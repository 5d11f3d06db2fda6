import { hash } from 'node:crypto';
import { type DespatchReceipt, despatchReceipt } from '../contracts';
import type { InboundMessage } from '../messaging/consumer';
import type { Outgoing } from '../messaging/outbox';
import type { Judged, Verdict } from './domain/judge';

/** A verdict that the partner is told. */
export type Told<O extends Judged> = Extract<Verdict<O>, { kind: 'despatched' | 'refused' | 'repeated' }>;

/** Longest reason, as the contract says. */
const MAX_REASON = 2000;

/**
 * Message id of the receipt for an advice (UUID of version 8, RFC 9562): the same whenever the advice is applied, so that a
 * transaction which is run again says the same.
 */
export function receiptIdOf(partner: string, adviceId: string): string {
  const bytes = hash('sha256', `${despatchReceipt.name}\0${partner}\0${adviceId}`, 'buffer').subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Our answer to an advice; the repeat of a recorded despatch gets what the first got, issued then. */
export function receiptFor<O extends Judged>(
  advice: Pick<InboundMessage<{ orderNumber: string; despatchNumber: string }>, 'id' | 'partner' | 'value'> & {
    correlationId: string;
  },
  verdict: Told<O>,
  now: Date,
): Outgoing<DespatchReceipt> {
  const { orderNumber, despatchNumber } = advice.value;
  const issuedAt = verdict.kind === 'repeated' ? verdict.first.recordedAt : now;
  const answer =
    verdict.kind === 'refused'
      ? {
          receiptCode: 'RE',
          reasonCode: verdict.code,
          reason: Array.from(verdict.reason).slice(0, MAX_REASON).join(''),
        }
      : { receiptCode: 'AP' };
  return {
    contract: despatchReceipt,
    partner: advice.partner,
    value: { orderNumber, despatchNumber, issuedAt: issuedAt.toISOString(), ...answer },
    id: receiptIdOf(advice.partner, advice.id),
    time: now,
    aggregateType: 'order',
    correlationId: advice.correlationId,
    causationId: advice.id,
  };
}
