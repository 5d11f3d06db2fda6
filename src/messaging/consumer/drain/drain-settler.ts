import type { Clock } from '../../../platform/clock';
import type { Database, Tx } from '../../../platform/database';
import { messageOf } from '../../../platform/errors';
import type { Logger } from '../../../platform/telemetry';
import type { Outbox } from '../../outbox';
import { logSplit } from '../batch-settler';
import type { ConsumerCounters } from '../counters';
import { discreetStack } from '../discretion';
import { infrastructureOf, outcomeOf } from '../failure';
import { inHalves } from '../in-halves';
import { giveTurns } from '../key-turns';
import type { Drained, DrainOutcome, DrainTransaction, Sequence } from './drain-transaction';
import { forgetTurns, type PendingTurn } from './drained';
import { Suspects } from './suspects';

/** What a settler has of its process. */
export interface Surroundings {
  database: Database;
  outbox: Pick<Outbox, 'hasWritten' | 'wake'>;
  clock: Clock;
  counters: ConsumerCounters;
  logger: Logger;
}

/** Brings due messages to their recorded outcomes, and their keys to their next turn. */
export class DrainSettler {
  private readonly suspects = new Suspects();

  constructor(
    private readonly steps: DrainTransaction,
    private readonly around: Surroundings,
    /** Puts off what can't be recorded. */
    private readonly postpone: (heads: readonly string[]) => Promise<void>,
  ) {}

  /**
   * One transaction when all is well. An exception halves them down to the offender's key, then takes ever less of that key from its head on: each
   * transaction begins with the head, which is the key's lock. What is behind comes with the key's next turn. Rejects when the
   * database is away: then everything not recorded is due as before.
   */
  async settle(sequences: readonly Sequence[]): Promise<void> {
    try {
      await this.try(sequences.map((sequence) => this.suspects.shortened(sequence)));
    } catch (error) {
      if (infrastructureOf(error) !== 'registry') throw error;
      await this.postpone(sequences.map(({ head }) => head));
    }
  }

  /** Gives keys their next turn, or ends them. A crash before it leaves them remembered: see {@link Drain}. */
  async turn(turns: readonly PendingTurn[]): Promise<void> {
    if (turns.length === 0) return;
    const { database, clock } = this.around;
    await database.transaction(async (tx) => {
      await giveTurns(tx, turns, clock.now());
      await forgetTurns(tx, turns);
    });
  }

  private try(sequences: readonly Sequence[]): Promise<void> {
    return inHalves(sequences, {
      attempt: async (some) => {
        await this.commit((tx, now) => this.steps.apply(tx, some, now));
        for (const sequence of some) this.suspects.passed(sequence);
      },
      alone: (sequence, error) => this.shorten(sequence, error),
      split: (error, count) => logSplit(this.around.logger, error, count),
    });
  }

  private async shorten(sequence: Sequence, error: unknown): Promise<void> {
    this.suspects.failed(sequence);
    if (sequence.messages.length === 1) return this.fail(sequence, error);
    logSplit(this.around.logger, error, sequence.messages.length);
    return this.try([this.suspects.shortened(sequence)]);
  }

  private async fail(sequence: Sequence, error: unknown): Promise<void> {
    const { logger } = this.around;
    const outcome = outcomeOf(error);
    const stack = discreetStack(error, sequence.messages[0]?.inspected);
    logger.error({ parked_id: sequence.head, code: outcome.code, stack }, 'a handler failed on a parked message');
    try {
      await this.commit((tx, now) => this.steps.fail(tx, sequence, now, outcome));
    } catch (defect) {
      if (infrastructureOf(defect)) throw defect;
      // A defect of ours: others go on meanwhile.
      logger.error({ parked_id: sequence.head, reason: messageOf(defect) }, 'an outcome cannot be recorded');
      await this.postpone([sequence.head]);
    }
  }

  private async commit(steps: (tx: Tx, now: Date) => Promise<DrainOutcome>): Promise<void> {
    const { database, outbox, clock } = this.around;
    let wrote = false;
    const { drained, turns } = await database.transaction(async (tx) => {
      const outcome = await steps(tx, clock.now());
      wrote = outbox.hasWritten(tx);
      return outcome;
    });
    if (wrote) outbox.wake();
    for (const one of drained) this.report(one);
    await this.turn(turns);
  }

  private report({ message: { stored, inspected }, result, failure }: Drained): void {
    if (result === 'held') return;
    const { counters, logger } = this.around;
    counters.count(stored.topic, failure?.state === 'dead' ? 'dead' : result);
    const { partner, topic, partition, offset } = stored;
    const fields = { parked_id: stored.id, partner, message_id: inspected.envelope.id, topic, partition, offset };
    if (!failure) return logger.info(fields, 'a parked message was applied');
    const { code, attempts, state } = failure;
    logger.warn({ ...fields, code, attempt: attempts, result: state }, 'a parked message was not applied');
  }
}
