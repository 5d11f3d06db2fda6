import { isDatabaseOutage } from '../platform/database';
import { AppError } from '../platform/errors';
import type { Order } from './domain/order';
import { inProgress, nameOf } from './idempotency';
import type { Placement, PlacementWriter } from './placement-writer';

/**
 * Transactions of this process at once: while one waits for the disk the next fills. Of 2, 3, 4 and 6, 3 took most orders
 * a second; more make smaller batches.
 */
const SLOTS = 3;
/** Most orders of one transaction. Each holds an advisory lock until the commit, from PostgreSQL's shared table (6,400 by default). */
const MAX_ORDERS = 200;
/** Most bytes of lines of one transaction. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Orders that may wait; more would only time out later. */
const MAX_WAITING = 5000;
const MAX_ROUNDS = 5;

interface Waiting {
  placement: Placement;
  rounds: number;
  resolve: (order: Order) => void;
  reject: (error: unknown) => void;
}

/**
 * Natural group commit: an order alone is written at once; those that come while all slots are busy share the next free
 * slot's transaction. Nothing is answered before its commit.
 */
export class OrderIntake {
  private waiting: Waiting[] = [];
  private readonly running = new Set<string>();
  private busy = 0;
  private scheduled = false;

  constructor(private readonly writer: Pick<PlacementWriter, 'write'>) {}

  /**
   * Resolves after the commit with the order as placed (by this call or by an earlier one with the same key and body).
   * Rejects with AppError `idempotency-key-in-progress` (also when the same key is on its way in this process: it never
   * waits), `idempotency-key-reused`, `order-number-taken`, `overloaded` or what made the document impossible. After any other error
   * the outcome may be unknown; the same key makes the repeat safe.
   */
  place(placement: Placement): Promise<Order> {
    const name = nameOf(placement);
    if (this.running.has(name)) return Promise.reject(inProgress());
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.reject(
        new AppError('overloaded', 'Too many orders are waiting to be written.', { retryAfter: 1 }),
      );
    }
    this.running.add(name);
    return new Promise<Order>((resolve, reject) => {
      this.waiting.push({ placement, rounds: 0, resolve, reject });
      this.schedule();
    }).finally(() => this.running.delete(name));
  }

  /** Once per turn of the event loop, so that requests parsed in one turn share a transaction. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      while (this.busy < SLOTS && this.waiting.length > 0) void this.occupy();
    });
  }

  private async occupy(): Promise<void> {
    this.busy++;
    try {
      while (this.waiting.length > 0) await this.write(this.take());
    } finally {
      this.busy--;
    }
  }

  /** The next batch, in order of arrival; an order number that is in it already waits for the next one. */
  private take(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const numbers = new Set<string>();
    let bytes = 0;
    for (const item of this.waiting) {
      const { orderNumber, linesJson } = item.placement;
      const full = batch.length >= MAX_ORDERS || (batch.length > 0 && bytes + linesJson.length > MAX_BYTES);
      if (full || (orderNumber !== undefined && numbers.has(orderNumber))) {
        left.push(item);
        continue;
      }
      if (orderNumber !== undefined) numbers.add(orderNumber);
      bytes += linesJson.length;
      batch.push(item);
    }
    this.waiting = left;
    return batch;
  }

  /** Never throws: every order of the batch is answered, put back, or written in a smaller batch. */
  private async write(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.writer.write(batch.map((item) => item.placement));
      for (const [index, item] of batch.entries()) {
        const result = results[index];
        if (result?.kind === 'placed') item.resolve(result.order);
        else if (result?.kind === 'refused') item.reject(result.error);
        else this.again(item);
      }
    } catch (error) {
      if (batch.length === 1 || isDatabaseOutage(error)) {
        for (const item of batch) item.reject(error);
        return;
      }
      const middle = batch.length >> 1;
      await this.write(batch.slice(0, middle));
      await this.write(batch.slice(middle));
    }
  }

  private again(item: Waiting): void {
    if (++item.rounds < MAX_ROUNDS) {
      this.waiting.unshift(item);
      return;
    }
    item.reject(new AppError('order-number-exhausted', `No free order number was found in ${MAX_ROUNDS} tries.`));
  }
}
