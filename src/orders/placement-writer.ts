import { type OrderContact, orderRequest } from '../contracts';
import type { Exchanges } from '../messaging/exchanges';
import type { Outbox, PreparedMessage } from '../messaging/outbox';
import type { Clock } from '../platform/clock';
import type { Database, Tx } from '../platform/database';
import { AppError, NonRetriableError } from '../platform/errors';
import type { Order, OrderLine } from './domain/order';
import { inProgress, keyReused, nameOf } from './idempotency';
import type { NewOrder, OrderRepository } from './order.repository';

/** An order that somebody wants placed; ids are given here, so that a repeated transaction says the same. */
export interface Placement extends Omit<NewOrder, 'orderNumber'> {
  /** undefined: Parley numbers it. */
  orderNumber: string | undefined;
  callerName: string;
  lines: OrderLine[];
  contact: OrderContact | undefined;
  messageId: string;
  correlationId: string;
  traceparent: string;
}

/** `again`: it must be tried once more in a new transaction (a number of ours met a given one; a key expired meanwhile). */
export type Written = { kind: 'placed'; order: Order } | { kind: 'refused'; error: AppError } | { kind: 'again' };

/** `ours`: Parley drew the number. */
type Numbered = Placement & { orderNumber: string; ours: boolean };
interface Ready {
  placement: Numbered;
  message: PreparedMessage;
}

/** How long the partner has to answer, as the contract says. */
const ANSWER_WITHIN_MS = orderRequest.deadlineMs ?? Number.NaN;

/** Writes a batch of orders with everything that belongs to them in one transaction. */
export class PlacementWriter {
  constructor(
    private readonly database: Database,
    private readonly repository: OrderRepository,
    private readonly outbox: Outbox,
    private readonly exchanges: Exchanges,
    private readonly clock: Clock,
  ) {}

  /**
   * One result per placement, in order, after the commit; throws when nothing was written, or when that is unknown because
   * the connection was lost at the commit. Keys, and the order numbers given, differ within a batch.
   */
  async write(placements: readonly Placement[]): Promise<Written[]> {
    const now = this.clock.now();
    const deadline = new Date(now.getTime() + ANSWER_WITHIN_MS);
    const numbered = await this.number(placements);
    const prepared = await Promise.all(numbered.map((placement) => this.prepare(placement, now)));
    const ready = prepared.filter((item): item is Ready => !(item instanceof AppError));
    const written =
      ready.length === 0
        ? new Map<Ready, Written>()
        : await this.database.transaction((tx) => this.writeAll(tx, ready, now, deadline));
    if ([...written.values()].some((result) => result.kind === 'placed')) this.outbox.wake();
    return prepared.map((item) =>
      item instanceof AppError ? { kind: 'refused', error: item } : (written.get(item) as Written),
    );
  }

  private async number(placements: readonly Placement[]): Promise<Numbered[]> {
    const given = new Set(placements.map((placement) => placement.orderNumber));
    const missing = placements.filter((placement) => placement.orderNumber === undefined).length;
    const drawn: string[] = [];
    while (drawn.length < missing) {
      // A number of ours may have been given in this very batch; one that stands in the table already is met by `claim`.
      drawn.push(...(await this.repository.drawNumbers(missing - drawn.length)).filter((number) => !given.has(number)));
    }
    return placements.map((placement) => ({
      ...placement,
      ours: placement.orderNumber === undefined,
      orderNumber: placement.orderNumber ?? (drawn.pop() as string),
    }));
  }

  /** The bytes, or why there can be none: that refuses this order alone. */
  private async prepare(placement: Numbered, now: Date): Promise<Ready | AppError> {
    try {
      const message = await this.outbox.prepare({
        contract: orderRequest,
        partner: placement.partner,
        value: {
          orderNumber: placement.orderNumber,
          issuedAt: now.toISOString(),
          currency: placement.currency,
          lines: placement.lines,
          ...(placement.contact && { contact: placement.contact }),
        },
        id: placement.messageId,
        time: now,
        aggregateType: 'order',
        correlationId: placement.correlationId,
        traceparent: placement.traceparent,
      });
      return { placement, message };
    } catch (error) {
      // Also what has to do with this partner's schemas alone: the others of the batch don't pay for it.
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  private async writeAll(tx: Tx, ready: readonly Ready[], now: Date, deadline: Date): Promise<Map<Ready, Written>> {
    const claims = await this.repository.claim(
      tx,
      ready.map((item) => item.placement),
      now,
      deadline,
    );
    const results = new Map<Ready, Written>();
    const placed: Ready[] = [];
    const taken: Ready[] = [];
    const known: Ready[] = [];
    for (const [index, item] of ready.entries()) {
      const claim = claims[index];
      if (!claim?.locked) results.set(item, { kind: 'refused', error: inProgress() });
      else if (!claim.fresh) known.push(item);
      else if (claim.placed) placed.push(item);
      else taken.push(item);
    }
    if (taken.length > 0)
      await this.repository.releaseKeys(
        tx,
        taken.map((item) => item.placement),
      );
    for (const item of taken)
      results.set(
        item,
        item.placement.ours ? { kind: 'again' } : { kind: 'refused', error: numberTaken(item.placement.orderNumber) },
      );
    if (known.length > 0) await this.answerAgain(tx, known, results);
    if (placed.length > 0) await this.writeRest(tx, placed, now, deadline);
    for (const item of placed) results.set(item, { kind: 'placed', order: firstAnswer(item.placement, now, deadline) });
    return results;
  }

  private async answerAgain(tx: Tx, known: readonly Ready[], results: Map<Ready, Written>): Promise<void> {
    const found = await this.repository.earlier(
      tx,
      known.map((item) => item.placement),
    );
    const byKey = new Map(found.map((earlier) => [nameOf(earlier), earlier]));
    for (const item of known) {
      const earlier = byKey.get(nameOf(item.placement));
      if (!earlier) results.set(item, { kind: 'again' });
      else if (!earlier.requestHash.equals(item.placement.requestHash))
        results.set(item, { kind: 'refused', error: keyReused() });
      else results.set(item, { kind: 'placed', order: asPlaced(earlier.order) });
    }
  }

  /** The orders' own INSERT holds their row locks: from here `seq` order is commit order within each order. */
  private async writeRest(tx: Tx, placed: readonly Ready[], now: Date, deadline: Date): Promise<void> {
    const seqs = await this.outbox.add(
      tx,
      placed.map((item) => item.message),
    );
    await this.repository.addEvents(
      tx,
      placed.map(({ placement, message }, index) => ({
        orderNumber: placement.orderNumber,
        version: 1,
        type: 'placed' as const,
        messageId: placement.messageId,
        correlationId: placement.correlationId,
        outboxSeq: seqs[index] as string,
        topic: message.topic,
        partition: message.partition,
        offset: null,
        // The key's row, which names the caller too, is kept for a day only.
        detail: { by: placement.callerName, caller: placement.caller },
      })),
      now,
    );
    await this.exchanges.open(
      tx,
      placed.map(({ placement }, index) => ({
        correlationId: placement.correlationId,
        partner: placement.partner,
        direction: 'out' as const,
        kind: orderRequest.name,
        orderNumber: placement.orderNumber,
        requestMessageId: placement.messageId,
        requestSeq: seqs[index] as string,
        deadline,
        openedAt: now,
      })),
    );
  }
}

const numberTaken = (orderNumber: string): AppError =>
  new NonRetriableError('order-number-taken', `The order number ${orderNumber} is taken.`, {
    violations: [{ pointer: '/orderNumber', detail: 'is taken by another order' }],
  });

const firstAnswer = (
  { orderNumber, partner, currency, lines, contact }: Numbered,
  now: Date,
  deadline: Date,
): Order => ({
  orderNumber,
  partner,
  state: 'placed',
  version: 1,
  currency,
  lines,
  contact: contact ?? null,
  agreedLines: null,
  cancellation: null,
  overdue: null,
  deadline,
  createdAt: now,
  updatedAt: now,
});

/** An order as it was when it was placed, whatever has become of it. */
const asPlaced = (order: Order): Order => ({
  ...order,
  state: 'placed',
  version: 1,
  agreedLines: null,
  cancellation: null,
  overdue: null,
  updatedAt: order.createdAt,
});
