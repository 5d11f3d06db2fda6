import type { DataSource } from 'typeorm';
import { ORDER_NUMBER_PATTERN } from '../contracts';
import { NonRetriableError } from '../platform/errors';
import { mayPartner, type Principal } from '../staff';
import type { Order, OrderState } from './domain/order';
import { OrderEntity } from './order.entity';

export interface OrderFilter {
  /** Only orders with these partners; null: with all. */
  partners?: readonly string[] | null;
  partner?: string | undefined;
  state?: OrderState | undefined;
  updatedSince?: Date | undefined;
  /** Only those of which an answer is overdue, or only the others. */
  overdue?: boolean | undefined;
}

export interface OrderPage {
  items: Order[];
  nextCursor: string | null;
}

const NUMBER = new RegExp(ORDER_NUMBER_PATTERN);

/** Reading orders. */
export class OrderList {
  constructor(private readonly dataSource: DataSource) {}

  find(orderNumber: string): Promise<Order | null> {
    return this.dataSource.getRepository(OrderEntity).findOneBy({ orderNumber });
  }

  /** The order, where this principal may see it. Throws `order-unknown` otherwise. */
  async existing(orderNumber: string, principal: Pick<Principal, 'partners'>): Promise<Order> {
    const order = NUMBER.test(orderNumber) ? await this.find(orderNumber) : null;
    if (!order || !mayPartner(principal, order.partner))
      throw new NonRetriableError('order-unknown', 'There is no order with this number.');
    return order;
  }

  /**
   * Newest first. The page key is the sort key (time of creation, order number): orders that come while somebody pages
   * appear before the first page, and no page shows one twice or leaves one out. Throws `cursor-invalid`.
   */
  async page(filter: OrderFilter, limit: number, cursor: string | undefined): Promise<OrderPage> {
    const find = this.dataSource
      .getRepository(OrderEntity)
      .createQueryBuilder('o')
      .orderBy('o.createdAt', 'DESC')
      .addOrderBy('o.orderNumber', 'DESC')
      .limit(limit + 1);
    if (filter.partners) find.andWhere('o.partner = ANY(:partners)', { partners: filter.partners });
    if (filter.partner !== undefined) find.andWhere('o.partner = :partner', { partner: filter.partner });
    if (filter.state !== undefined) find.andWhere('o.state = :state', { state: filter.state });
    if (filter.updatedSince !== undefined) find.andWhere('o.updatedAt >= :since', { since: filter.updatedSince });
    if (filter.overdue !== undefined) {
      find.andWhere(filter.overdue ? 'o.overdue IS NOT NULL' : 'o.overdue IS NULL');
    }
    if (cursor !== undefined) {
      const [createdAt, orderNumber] = parseCursor(cursor);
      find.andWhere('(o.createdAt, o.orderNumber) < (:createdAt, :orderNumber)', { createdAt, orderNumber });
    }
    const found = await find.getMany();
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, nextCursor: found.length > limit && last ? cursorOf(last) : null };
  }
}

export const cursorOf = ({ createdAt, orderNumber }: Pick<Order, 'createdAt' | 'orderNumber'>): string =>
  Buffer.from(JSON.stringify([createdAt.toISOString(), orderNumber])).toString('base64url');

function parseCursor(cursor: string): [createdAt: Date, orderNumber: string] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parsed) && parsed.length === 2) {
      const [time, orderNumber] = parsed as [unknown, unknown];
      const createdAt = new Date(typeof time === 'string' ? time : Number.NaN);
      if (typeof orderNumber === 'string' && /^[\w.-]{1,64}$/.test(orderNumber) && createdAt.toISOString() === time)
        return [createdAt, orderNumber];
    }
  } catch {
    // Falls through: not ours.
  }
  throw new NonRetriableError('cursor-invalid', 'The cursor is not one that was given.', {
    violations: [{ pointer: 'cursor', detail: 'must be a cursor as it was given' }],
  });
}
