import {
  type DespatchAdvice,
  despatchAdvice,
  type DespatchReceipt,
  despatchReceipt,
  topicFor,
  typeOf,
} from '../contracts';
import { type InboundMessage, nameUuid } from '../messaging/consumer';
import type { Outgoing } from '../messaging/outbox';
import type { Judged, Verdict } from './domain/judge';

/** A verdict that the partner is told. */
export type Told<O extends Judged> = Extract<Verdict<O>, { kind: 'despatched' | 'refused' | 'repeated' }>;

/** Message id of the receipt for an advice: the same whenever it is applied, so that a transaction which is run again says the same. */
export const receiptIdOf = (partner: string, adviceId: string): string =>
  nameUuid([typeOf(despatchReceipt), topicFor(despatchAdvice, partner), adviceId]);

/** Our answer to an advice; the repeat of a recorded despatch gets what the first got, issued then. */
export function receiptFor<O extends Judged>(
  advice: Pick<InboundMessage<DespatchAdvice>, 'id' | 'partner' | 'value'> & {
    correlationId: string;
  },
  verdict: Told<O>,
  now: Date,
): Outgoing<DespatchReceipt> {
  const { orderNumber, despatchNumber } = advice.value;
  const issuedAt = verdict.kind === 'repeated' ? verdict.first.recordedAt : now;
  const answer =
    verdict.kind === 'refused'
      ? { receiptCode: 'RE', reasonCode: verdict.code, reason: verdict.reason }
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
