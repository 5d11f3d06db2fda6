import type { Clock } from '../../platform/clock';
import type { Database, Tx } from '../../platform/database';
import type { Logger } from '../../platform/telemetry';
import type { Outbox } from '../outbox';
import type { ConsumerCounters } from './counters';
import { discreetStack } from './discretion';
import { outcomeOf } from './failure';
import { inHalves } from './in-halves';
import type { InspectedRecord } from './inspect';
import type { PartitionWork } from './partition-work';
import { Abandoned, type Patience } from './patience';
import type { RecordTransaction, Settled } from './record-transaction';

/** A record of a batch and the partition that it came from. */
export interface WorkItem {
  work: PartitionWork;
  inspected: InspectedRecord;
}

/** Brings a batch to its recorded outcomes: one transaction when all is well, halves when a handler throws. */
export class BatchSettler {
  constructor(
    private readonly database: Database,
    private readonly steps: RecordTransaction,
    private readonly outbox: Pick<Outbox, 'hasWritten' | 'wake'>,
    private readonly clock: Clock,
    private readonly counters: ConsumerCounters,
    private readonly logger: Logger,
  ) {}

  /**
   * Resolves when every record has its outcome committed, or its partition was told that it was left out. An exception halves the batch
   * down to the offender, which is parked with its key. Order within a key survives: halves run in order, and a
   * parked key holds what comes later.
   */
  async settle(items: readonly WorkItem[], patience: Patience): Promise<void> {
    await inHalves(items, {
      attempt: (some) => this.commit(some, patience, (tx, records, now) => this.steps.apply(tx, records, now)),
      alone: (item, error) => this.park(item, error, patience),
      split: (error, records) => logSplit(this.logger, error, records),
    });
  }

  private async park(item: WorkItem, error: unknown, patience: Patience): Promise<void> {
    const outcome = outcomeOf(error);
    const stack = discreetStack(error, item.inspected);
    const fields = { ...named(item.inspected), code: outcome.code, attempt: 1, stack };
    this.logger.error(fields, 'a handler failed');
    await this.commit([item], patience, (tx, _records, now) => this.steps.park(tx, item.inspected, now, outcome));
  }

  private async commit(
    items: readonly WorkItem[],
    patience: Patience,
    steps: (tx: Tx, records: readonly InspectedRecord[], now: Date) => Promise<Settled[]>,
  ): Promise<void> {
    const works = [...new Set(items.map((item) => item.work))];
    const attempt = async () => {
      const records = ofOurs(items);
      let wrote = false;
      const settled = await this.database.transaction(async (tx) => {
        const outcomes = await steps(tx, records, this.clock.now());
        wrote = this.outbox.hasWritten(tx);
        return outcomes;
      });
      // Answers and reports go out at once, not with the relay's next look.
      if (wrote) this.outbox.wake();
      return settled;
    };
    try {
      for (const one of await patience.run(works, attempt)) this.report(one);
    } catch (error) {
      // None of these partitions is ours; those of the other half may be.
      if (!(error instanceof Abandoned)) throw error;
      for (const work of works) work.leaveOut();
    } finally {
      // After a failure too: an offender costs ten attempts of a full batch, each up to a statement's timeout long, and a
      // group that hears nothing meanwhile gives the partition away before the offender is parked; its next owner as well.
      await Promise.all(works.map((work) => work.heartbeat()));
    }
  }

  private report({ inspected, result, code }: Settled): void {
    const { content, channel } = inspected;
    this.counters.count(channel.topic, result);
    if (result === 'dead' && 'refusal' in content && content.refusal.code === code) {
      this.counters.countViolation(channel.topic, content.refusal.code);
    }
    if (code !== undefined) this.logger.warn({ ...named(inspected), code, result }, 'a message was not applied');
  }
}

const SPLIT = 'a batch failed and is split';

/** Halves come out right also where a handler broke its promise, so nothing else would ever show it. */
export function logSplit(logger: Logger, error: unknown, records: number): void {
  const { code, detail, classes } = outcomeOf(error);
  // Other words may quote the documents of a whole batch.
  if (code === 'handler-broken') logger.error({ code, reason: detail, records }, SPLIT);
  else logger.debug({ code, classes, records }, SPLIT);
}

/** Nothing is begun for a partition that is gone; its new owner, or the next fetch, has its records. */
function ofOurs(items: readonly WorkItem[]): InspectedRecord[] {
  const ours = items.filter(({ work }) => !work.isGone);
  if (ours.length < items.length) for (const { work } of items) if (work.isGone) work.leaveOut();
  return ours.map((item) => item.inspected);
}

const named = ({ record, channel, envelope }: InspectedRecord): Record<string, unknown> => ({
  partner: channel.partner,
  message_id: envelope.id?.slice(0, 255),
  topic: record.topic,
  partition: record.partition,
  offset: String(record.offset),
});
