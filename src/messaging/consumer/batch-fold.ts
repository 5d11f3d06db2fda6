import { typeOf } from '../../contracts';
import { AppError } from '../../platform/errors';
import type { Outcome } from './handler';
import type { InspectedRecord, Refusal } from './inspect';

/** A record that nobody had taken before; `refusal` stands where it doesn't get to a handler. */
export interface FreshRecord {
  inspected: InspectedRecord;
  inboxId: string;
  refusal: Refusal | undefined;
}

/** Gives records of one contract to its handler; one outcome each, in order. */
export type Invoke = (records: readonly FreshRecord[]) => Promise<readonly Outcome[]>;

export interface FoldResult {
  outcomes: ReadonlyMap<FreshRecord, Outcome>;
  /** Sequences (a key within its channel) that this batch parks. */
  parkedKeys: ReadonlySet<string>;
  /** Those that are held behind nothing: they are due at once. */
  next?: ReadonlySet<FreshRecord>;
}

/**
 * Walks the records in order, hands runs of one contract to `invoke`, and lets nothing overtake within a key: behind a
 * record that waits or is dead every later one of its key is held.
 *
 * A dead record holds its key too, whatever killed it (`message-id-reused` as well): its content was never applied, and
 * what follows may rest on it; only a person, or a mended build, knows that it doesn't. The contract can say otherwise
 * (`laterMessages: 'continue'`); an unknown document is taken for one that carries state.
 */
export async function foldBatch(
  records: readonly FreshRecord[],
  parkedBefore: ReadonlySet<string>,
  invoke: Invoke,
): Promise<FoldResult> {
  const fold = new BatchFold(parkedBefore, invoke);
  for (const record of records) await fold.add(record);
  await fold.flush();
  return fold;
}

export const HELD: Outcome = { kind: 'held' };

class BatchFold implements FoldResult {
  readonly outcomes = new Map<FreshRecord, Outcome>();
  readonly parkedKeys = new Set<string>();
  private run: FreshRecord[] = [];

  constructor(
    private readonly parkedBefore: ReadonlySet<string>,
    private readonly invoke: Invoke,
  ) {}

  async add(record: FreshRecord): Promise<void> {
    const { sequence } = record.inspected;
    if (record.refusal) {
      // What stands before it in its key is judged first: it parks the key for what comes later only.
      if (sequence !== null && this.run.some((earlier) => earlier.inspected.sequence === sequence)) await this.flush();
      return this.settle(record, record.refusal);
    }
    if (this.run.length > 0 && this.run[0]?.inspected.contract !== record.inspected.contract) await this.flush();
    // After the flush: its outcomes may just have parked this key.
    if (this.isParked(record)) this.settle(record, HELD);
    else this.run.push(record);
  }

  async flush(): Promise<void> {
    const run = this.run;
    this.run = [];
    if (run.length === 0) return;
    const outcomes = await this.invoke(run);
    if (outcomes.length !== run.length) {
      throw brokenHandler(run, `returned ${outcomes.length} outcomes for ${run.length} messages`);
    }
    run.forEach((record, index) => this.judge(run, record, outcomes[index] as Outcome));
  }

  private judge(run: readonly FreshRecord[], record: FreshRecord, outcome: Outcome): void {
    if (this.isParked(record)) {
      if (outcome.kind === 'applied') throw brokenHandler(run, 'applied a message behind one of its key that waits');
      return this.settle(record, HELD);
    }
    if (outcome.kind === 'held') throw brokenHandler(run, 'held a message behind nothing');
    this.settle(record, outcome);
  }

  private settle(record: FreshRecord, outcome: Outcome): void {
    this.outcomes.set(record, outcome);
    const { sequence, contract } = record.inspected;
    if (sequence === null || (outcome.kind !== 'retry' && outcome.kind !== 'dead')) return;
    if ((contract?.laterMessages ?? 'hold') === 'hold' && !this.parkedBefore.has(sequence)) {
      this.parkedKeys.add(sequence);
    }
  }

  private isParked({ inspected: { sequence } }: FreshRecord): boolean {
    return sequence !== null && (this.parkedBefore.has(sequence) || this.parkedKeys.has(sequence));
  }
}

/** Nothing of such a batch is committed; split in halves it comes out right, since a parked key then holds by itself. */
function brokenHandler(run: readonly FreshRecord[], fault: string): AppError {
  const contract = run[0]?.inspected.contract;
  return new AppError('handler-broken', `The handler of ${contract ? typeOf(contract) : 'a document'} ${fault}.`);
}
