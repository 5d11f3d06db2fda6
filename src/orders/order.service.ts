import { hash, randomUUID } from 'node:crypto';
import { type OrderContact, orderRequest, OWN_SYSTEMS } from '../contracts';
import type { Outbox } from '../messaging/outbox';
import type { Partners } from '../partners';
import { AppError, NonRetriableError, type Violation } from '../platform/errors';
import { contactOf } from './contact.dto';
import type { Order, OrderLine } from './domain/order';
import { lockOf } from './idempotency';
import { lineOf } from './order.dto';
import type { OrderIntake } from './order-intake';

export interface PlaceOrder {
  /** Who asks; part of the key's name, so that nobody meets another's keys. */
  caller: string;
  /** What people call it; the order's story keeps both. */
  callerName: string;
  idempotencyKey: string;
  orderNumber: string | undefined;
  partner: string;
  currency: string;
  lines: readonly OrderLine[];
  contact: OrderContact | undefined;
  /** Trace context that goes out with the message. */
  traceparent: string;
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Orders of one partner that may wait for its schema, each with all its lines in memory; more would only wait for a registry that says nothing. */
const MAX_UNREADY = 1000;

/** What can be said of an order without writing it; the rest is {@link OrderIntake}'s. */
export class OrderService {
  /** By partner: one whose schema is not known yet takes no room from the others. */
  private readonly unready = new Map<string, number>();

  constructor(
    private readonly partners: Pick<Partners, 'find'>,
    private readonly outbox: Pick<Outbox, 'ready'>,
    private readonly intake: OrderIntake,
  ) {}

  /**
   * Places an order, or tells the first answer again. Throws AppError `partner-unknown`, `channel-unknown`, `order-invalid`, `overloaded`, and what
   * `Outbox.ready` and {@link OrderIntake.place} reject with. A suspended partner's orders are accepted: they wait in its lane.
   */
  async place(request: PlaceOrder): Promise<Order> {
    const lines = request.lines.map(lineOf);
    const violations = this.violations(request.currency, lines);
    if (violations.length > 0) {
      throw new NonRetriableError('order-invalid', `${violations[0]?.pointer} ${violations[0]?.detail}.`, {
        violations,
      });
    }
    const { caller, idempotencyKey: key, orderNumber, partner, currency } = request;
    if (partner === OWN_SYSTEMS) {
      throw new NonRetriableError('channel-unknown', `"${partner}" are our own systems, which take no orders.`, {
        violations: [{ pointer: '/partner', detail: 'is not a partner that takes orders' }],
      });
    }
    if (!(await this.partners.find(partner))) {
      throw new NonRetriableError('partner-unknown', `There is no partner ${partner}.`, {
        violations: [{ pointer: '/partner', detail: 'is not a partner' }],
      });
    }
    await this.ready(partner);
    const linesJson = JSON.stringify(lines);
    const contact = request.contact && contactOf(request.contact);
    const contactJson = contact ? JSON.stringify(contact) : null;
    // Without a contact as it was before there were any: a request may be repeated over an upgrade.
    const asked = [orderNumber ?? null, partner, currency, linesJson, ...(contactJson === null ? [] : [contactJson])];
    return this.intake.place({
      caller,
      callerName: request.callerName,
      key,
      keyLock: lockOf({ caller, key }),
      requestHash: hash('sha256', JSON.stringify(asked), 'buffer'),
      orderNumber,
      partner,
      currency,
      lines,
      linesJson,
      contact,
      contactJson,
      messageId: randomUUID(),
      correlationId: randomUUID(),
      traceparent: request.traceparent,
    });
  }

  /** What takes time here is this request's alone: the transaction that it joins serves others too. */
  private async ready(partner: string): Promise<void> {
    const waiting = this.unready.get(partner) ?? 0;
    if (waiting >= MAX_UNREADY) {
      throw new AppError('overloaded', 'Too many orders of this partner wait for its schema.', { retryAfter: 5 });
    }
    this.unready.set(partner, waiting + 1);
    try {
      await this.outbox.ready(orderRequest, partner);
    } finally {
      const left = (this.unready.get(partner) ?? 1) - 1;
      if (left > 0) this.unready.set(partner, left);
      else this.unready.delete(partner);
    }
  }

  private violations(currency: string, lines: readonly OrderLine[]): Violation[] {
    const violations: Violation[] = [];
    if (!CURRENCIES.has(currency)) violations.push({ pointer: '/currency', detail: 'is not a currency in use' });
    const first = new Map<number, number>();
    for (const [index, { lineNumber }] of lines.entries()) {
      const earlier = first.get(lineNumber);
      if (earlier === undefined) first.set(lineNumber, index);
      else violations.push({ pointer: `/lines/${index}/lineNumber`, detail: `is the number of /lines/${earlier} too` });
    }
    return violations.slice(0, 100);
  }
}
