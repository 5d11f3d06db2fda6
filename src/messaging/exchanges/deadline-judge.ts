import type { AnyContract } from '../../contracts';
import type { Tx } from '../../platform/database';
import { type Outbox, publicationsOf } from '../outbox';
import type { DeadlineStep } from './deadline-handlers';
import { type Verdict, verdictOf } from './domain/deadline';
import type { DueExchanges } from './due-exchanges';
import type { Exchange } from './exchange';

/**
 * Those of these correlation ids that a parked, unresolved message of the partner carries. Exchanges doesn't know the consumer,
 * which has them: whoever knows both hands this in.
 */
export type ParkedAnswers = (
  tx: Tx,
  partner: string,
  correlationIds: readonly string[],
) => Promise<ReadonlySet<string>>;

/** Judges exchanges whose orders are locked, and writes what follows. */
export class DeadlineJudge {
  constructor(
    private readonly due: DueExchanges,
    private readonly outbox: Outbox,
    private readonly parkedAnswers: ParkedAnswers,
  ) {}

  /**
   * Locks them, so that an answer is either seen here or comes after; asks about receipts and parked answers behind the locks; writes
   * ledger and outbox. A handful of statements, however many there are.
   */
  async judge(
    tx: Tx,
    contract: AnyContract,
    asked: { partner: string; correlationIds: readonly string[]; upTo: Date; now: Date },
  ): Promise<DeadlineStep[]> {
    const { partner, correlationIds, upTo, now } = asked;
    const locked = await this.due.lockDue(tx, partner, correlationIds, upTo);
    if (locked.length === 0) return [];
    const sent = new Map(locked.map((exchange) => [exchange, exchange.resentSeq ?? exchange.requestSeq]));
    const publications = await publicationsOf(
      tx,
      [...sent.values()].filter((seq) => seq !== null),
    );
    const parked = await this.parkedAnswers(tx, partner, correlationIds);
    const oldest = Math.min(...locked.map(({ deadline }) => deadline.getTime()));
    const stops = await this.due.stops(tx, partner, new Date(oldest));
    const verdicts = new Map<Exchange, Verdict>(
      locked.map((exchange) => {
        const publication = publications.get(sent.get(exchange) ?? '') ?? 'dropped';
        const facts = { publication, hasParkedAnswer: parked.has(exchange.correlationId), stops };
        return [exchange, verdictOf(exchange, facts, contract, now)];
      }),
    );
    const again = locked.filter((exchange) => verdicts.get(exchange)?.kind === 'resend');
    const resentAs = await this.outbox.addAgain(
      tx,
      again.flatMap(({ resentSeq, requestSeq }) => resentSeq ?? requestSeq ?? []),
    );
    await this.due.settle(tx, verdicts, resentAs, now);
    return [...verdicts].flatMap(([exchange, verdict]): DeadlineStep[] => {
      if (verdict.kind === 'overdue') return [{ kind: 'overdue', exchange, reason: verdict.reason }];
      const address = verdict.kind === 'resend' ? resentAs.get(exchange.requestMessageId) : undefined;
      if (verdict.kind !== 'resend' || !address) return [];
      const { deadline } = verdict;
      return [
        {
          kind: 'resent',
          exchange,
          times: exchange.resends + 1,
          of: contract.resend?.times ?? 0,
          deadline,
          ...address,
        },
      ];
    });
  }
}
