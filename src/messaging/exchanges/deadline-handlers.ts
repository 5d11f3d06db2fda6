import type { AnyContract } from '../../contracts';
import type { Tx } from '../../platform/database';
import type { Exchange } from './exchange';

/** What was done about a request whose deadline has passed, already written in the ledger. */
export type DeadlineStep =
  | {
      kind: 'resent';
      /** As it was before. */
      exchange: Exchange;
      /** 1: the first time that it was sent again; of so many that its contract allows. */
      times: number;
      of: number;
      /** The new one. */
      deadline: Date;
      /** The new outbox row, which carries the same message id. */
      seq: string;
      topic: string;
      partition: number;
    }
  | {
      kind: 'overdue';
      exchange: Exchange;
      /** In words. */
      reason: string;
    };

/** Some requests of one kind and partner whose deadline may have passed. */
export interface DeadlineBatch {
  partner: string;
  orderNumbers: readonly string[];
  now: Date;
  /** Locks the exchanges, looks again, and writes what is due into ledger and outbox. Called once, when the orders are locked. */
  judge: () => Promise<readonly DeadlineStep[]>;
}

/** What a room does when a deadline of its requests has passed: locks the orders (sorted), has it judged, and records the steps. */
export type DeadlineHandler = (tx: Tx, batch: DeadlineBatch) => Promise<void>;

/** Who records deadlines of which kind of request. */
export class DeadlineHandlers {
  private readonly byKind = new Map<string, DeadlineHandler>();
  private readonly twice: string[] = [];

  /** Called at boot, by the room whose requests these are. */
  on(request: Pick<AnyContract, 'name'>, handler: DeadlineHandler): void {
    if (this.byKind.has(request.name)) this.twice.push(request.name);
    this.byKind.set(request.name, handler);
  }

  of(kind: string): DeadlineHandler | undefined {
    return this.byKind.get(kind);
  }

  /**
   * Every request with a deadline has exactly one handler and an answer to wait for, and every handler a request: otherwise the
   * process must not start, since a deadline would pass unseen. All faults at once.
   */
  check(contracts: readonly AnyContract[]): void {
    const awaited = contracts.filter(({ direction, deadlineMs }) => direction === 'out' && deadlineMs !== undefined);
    const names = awaited.map(({ name }) => name);
    const faults = awaited.flatMap(({ name }) => [
      ...(this.byKind.has(name) ? [] : [`nobody handles the deadline of ${name}`]),
      ...(contracts.some(({ answers }) => answers === name)
        ? []
        : [`${name} has a deadline and no document answers it`]),
    ]);
    faults.push(...this.twice.map((name) => `the deadline of ${name} has more than one handler`));
    for (const name of this.byKind.keys()) {
      if (!names.includes(name)) faults.push(`a handler waits for the deadline of ${name}, which has none`);
    }
    if (faults.length > 0) throw new Error(`Deadlines are not wired: ${faults.join('; ')}.`);
  }
}
