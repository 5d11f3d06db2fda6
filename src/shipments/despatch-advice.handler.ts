import { Controller, Inject } from '@nestjs/common';
import { type DespatchAdvice, despatchAdvice, type DespatchDriver } from '../contracts';
import { HandlesContract, type InboundBatch, type InboundMessage, type Outcome } from '../messaging/consumer';
import { lockAsked } from '../messaging/exchanges';
import { type LockedOrder, OrderSteps, SHIPMENT_TRANSITIONS } from '../orders';
import { storable } from '../platform/database';
import { type Advice, judge, type Verdict } from './domain/judge';
import type { Despatch } from './domain/shipment';
import { DespatchWriter, type ToldAdvice } from './despatch-writer';
import { ShipmentRepository } from './shipment.repository';

type Message = InboundMessage<DespatchAdvice>;

/** Partners' despatch advices, a batch at a time. */
@Controller()
export class DespatchAdviceHandler {
  constructor(
    @Inject(OrderSteps) private readonly steps: OrderSteps,
    @Inject(ShipmentRepository) private readonly repository: ShipmentRepository,
    @Inject(DespatchWriter) private readonly writer: DespatchWriter,
  ) {}

  /** Locks orders, then exchanges; judges in memory; writes effects and receipts. A set of statements, however many messages. */
  @HandlesContract(despatchAdvice)
  async handle({ tx, partner, now, messages }: InboundBatch<DespatchAdvice>): Promise<Outcome[]> {
    const advices = messages.map(adviceOf);
    const orderNumbers = [...new Set(messages.map(({ value }) => value.orderNumber))];
    const orders = await this.steps.lock(tx, partner, orderNumbers);
    const correlationIds = new Set(messages.flatMap((message) => message.correlationId ?? []));
    const asked = await lockAsked(tx, partner, [...correlationIds]);
    // Statements after the lock: they see what whoever held it before has written.
    const recorded = await this.repository.recorded(tx, partner, fitNumbers(advices));
    const known = {
      orders,
      despatched: await this.repository.despatched(tx, [...orders.keys()]),
      recorded: new Map([...recorded].map(([number, row]) => [number, { despatch: row, recordedAt: row.recordedAt }])),
      asked: new Map([...asked].map(([id, { answerCode, ...exchange }]) => [id, { ...exchange, code: answerCode }])),
    };
    const { verdicts, answered } = judge<LockedOrder>(advices, known, despatchAdvice.name, SHIPMENT_TRANSITIONS, now);
    const told = toldOf(messages, advices, verdicts);
    if (told.length > 0) await this.writer.write(tx, { partner, told, answered, asked, now });
    return verdicts.map(outcomeOf);
  }
}

const outcomeOf = (verdict: Verdict<LockedOrder>): Outcome =>
  verdict.kind === 'dead' || verdict.kind === 'retry' || verdict.kind === 'held' ? verdict : { kind: 'applied' };

function toldOf(
  messages: readonly Message[],
  advices: readonly Advice[],
  verdicts: readonly Verdict<LockedOrder>[],
): ToldAdvice[] {
  return verdicts.flatMap((verdict, index) => {
    if (verdict.kind === 'dead' || verdict.kind === 'retry' || verdict.kind === 'held') return [];
    const { despatch } = advices[index] as Advice;
    const message = messages[index] as Message;
    return { message: { ...message, correlationId: message.correlationId as string }, despatch, verdict };
  });
}

const fitNumbers = (advices: readonly Advice[]): string[] =>
  advices.filter(({ refusal }) => !refusal).map(({ despatch }) => despatch.despatchNumber);

function adviceOf({ id, key, correlationId, value }: Message): Advice {
  return {
    messageId: id,
    correlationId,
    keyed: key !== null,
    despatch: despatchOf(value),
    refusal: NUMBER.test(value.despatchNumber)
      ? undefined
      : {
          kind: 'dead',
          code: 'despatch-number-unfit',
          detail: 'The despatch number has control characters or half characters.',
          pointer: '/despatchNumber',
        },
  };
}

/** Text that a database, a log and a partner can carry: a number names the despatch in each of them. */
const NUMBER = /^[^\p{Cc}\p{Cs}]+$/u;

/** What of the document is stored. What no database takes is replaced; the bytes stay in Kafka. */
const despatchOf = (value: DespatchAdvice): Despatch => ({
  orderNumber: value.orderNumber,
  despatchNumber: value.despatchNumber,
  carrier: storedText(value.carrier),
  trackingNumber: storedText(value.trackingNumber),
  grossWeightGrams: value.grossWeightGrams ?? null,
  lines: value.lines.map(({ lineNumber, quantity }) => ({ lineNumber, quantity })),
  driver: value.driver ? driverOf(value.driver) : null,
});

const driverOf = ({ name, phone }: DespatchDriver): DespatchDriver => ({
  name: storable(name),
  ...(phone !== undefined && { phone: storable(phone) }),
});

const storedText = (text: string | undefined): string | null => (text === undefined ? null : storable(text));
