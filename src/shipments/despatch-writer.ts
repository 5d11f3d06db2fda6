import type { DespatchAdvice } from '../contracts';
import type { InboundMessage } from '../messaging/consumer';
import { addAnswered, type Exchanges } from '../messaging/exchanges';
import type { Outbox, PreparedMessage } from '../messaging/outbox';
import type { LockedOrder, OrderStep, OrderSteps } from '../orders';
import { LostRace, storable, type Tx } from '../platform/database';
import type { Answered } from './domain/judge';
import type { Despatch, Shipment } from './domain/shipment';
import { receiptFor, receiptIdOf, type Told } from './receipt';
import type { ShipmentRepository } from './shipment.repository';

/** An advice that is answered with a receipt. */
export interface ToldAdvice {
  message: InboundMessage<DespatchAdvice> & { correlationId: string };
  despatch: Despatch;
  verdict: Told<LockedOrder>;
}

export interface JudgedBatch {
  partner: string;
  /** In order. */
  told: readonly ToldAdvice[];
  /** By correlation id: exchanges as they end. */
  answered: ReadonlyMap<string, Answered>;
  /** Those of them that stand in the ledger. */
  asked: ReadonlyMap<string, unknown>;
  now: Date;
}

/** Writes what a batch of advices does, with the receipts that say so, in the transaction that took the messages. */
export class DespatchWriter {
  constructor(
    private readonly steps: OrderSteps,
    private readonly repository: ShipmentRepository,
    private readonly exchanges: Exchanges,
    private readonly outbox: Outbox,
  ) {}

  /**
   * The orders are locked: from here `seq` order is commit order within each of them. Throws LostRace when the partner's
   * advice of another order took a despatch number or correlation id at the same time.
   */
  async write(tx: Tx, batch: JudgedBatch): Promise<void> {
    const { told, now } = batch;
    const receipts = await Promise.all(
      told.map(({ message, verdict }) => this.outbox.prepare(receiptFor(message, verdict, now))),
    );
    await this.writeExchanges(tx, batch);
    await this.writeShipments(tx, batch);
    const seqs = await this.outbox.add(tx, receipts);
    const steps = told.flatMap((advice, index) =>
      advice.verdict.kind === 'repeated'
        ? []
        : stepOf(advice, advice.verdict, receipts[index] as PreparedMessage, seqs[index] as string),
    );
    await this.steps.record(tx, steps, now);
  }

  private async writeExchanges(tx: Tx, { partner, answered, asked, now }: JudgedBatch): Promise<void> {
    const all = [...answered].map(
      ([correlationId, { kind, orderNumber, code, requestMessageId, answeredMessageId }]) => ({
        ...{ correlationId, kind, orderNumber, requestMessageId },
        answerMessageId: receiptIdOf(partner, answeredMessageId),
        answerCode: code,
      }),
    );
    const fresh = all.filter(({ correlationId }) => !asked.has(correlationId));
    if ((await addAnswered(tx, partner, fresh, now)) < fresh.length) {
      throw new LostRace('A correlation id was taken by another order of the partner.');
    }
    await this.exchanges.answer(
      tx,
      all
        .filter(({ correlationId }) => asked.has(correlationId))
        .map(({ correlationId, answerMessageId, answerCode }) => ({
          ...{ correlationId, partner, direction: 'in' as const, state: 'answered' as const },
          ...{ messageId: answerMessageId, code: answerCode, at: now },
        })),
    );
  }

  private async writeShipments(tx: Tx, { told, now }: JudgedBatch): Promise<void> {
    const shipments = told.flatMap(({ message, despatch, verdict }): Shipment[] =>
      verdict.kind === 'despatched'
        ? [
            {
              ...despatch,
              partner: message.partner,
              orderVersion: verdict.order.version,
              messageId: message.id,
              issuedAt: storable(message.value.issuedAt),
              recordedAt: now,
            },
          ]
        : [],
    );
    if ((await this.repository.add(tx, shipments)) < shipments.length) {
      throw new LostRace('A despatch number was taken by another order of the partner.');
    }
  }
}

/** A step of the order's history: what the partner said, and our receipt. */
function stepOf(
  { message, despatch }: ToldAdvice,
  verdict: Exclude<Told<LockedOrder>, { kind: 'repeated' }>,
  receipt: PreparedMessage,
  seq: string,
): OrderStep {
  const { id, correlationId, topic, partition, offset } = message;
  const isRefused = verdict.kind === 'refused';
  return {
    order: verdict.order,
    type: verdict.kind === 'refused' ? 'despatch-refused' : verdict.order.state,
    message: { id, correlationId, topic, partition, offset },
    detail: {
      documentNumber: despatch.despatchNumber,
      ...(isRefused ? { code: verdict.code, reason: verdict.reason } : {}),
    },
    ...(isRefused ? {} : { despatch: { carrier: despatch.carrier, trackingNumber: despatch.trackingNumber } }),
    reply: { messageId: receipt.id, seq, topic: receipt.topic, partition: receipt.partition },
  };
}
