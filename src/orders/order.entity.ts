import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { OrderContact } from '../contracts';
import {
  type Cancellation,
  type Order,
  ORDER_STATES,
  type OrderEventDetail,
  type OrderLine,
  type OrderState,
  type Overdue,
  type StepType,
} from './domain/order';

// Read through TypeORM; written by the set-based statements of order.repository.ts only.

const time = { type: 'timestamptz', precision: 3 } as const;

@Entity('orders')
@Check('orders_state_check', `state IN (${ORDER_STATES.map((state) => `'${state}'`).join(', ')})`)
@Index('orders_created', ['createdAt', 'orderNumber'])
@Index('orders_partner_created', ['partner', 'createdAt', 'orderNumber'])
@Index('orders_updated', { synchronize: false })
@Index('orders_overdue', ['createdAt', 'orderNumber'], { where: 'overdue IS NOT NULL' })
export class OrderEntity implements Order {
  @PrimaryColumn({ type: 'text', name: 'order_number', primaryKeyConstraintName: 'orders_pkey' })
  orderNumber: string;

  @Column({ type: 'text' })
  partner: string;

  @Column({ type: 'text' })
  state: OrderState;

  @Column({ type: 'int' })
  version: number;

  @Column({ type: 'text' })
  currency: string;

  @Column({ type: 'jsonb' })
  lines: OrderLine[];

  @Column({ type: 'jsonb', nullable: true })
  contact: OrderContact | null;

  @Column({ type: 'jsonb', name: 'agreed_lines', nullable: true })
  agreedLines: OrderLine[] | null;

  @Column({ type: 'jsonb', nullable: true })
  cancellation: Cancellation | null;

  @Column({ type: 'jsonb', nullable: true })
  overdue: Overdue[] | null;

  @Column({ ...time })
  deadline: Date;

  @Column({ ...time, name: 'created_at' })
  createdAt: Date;

  @Column({ ...time, name: 'updated_at' })
  updatedAt: Date;
}

/** One step of an order's history, with the message that caused it or that it caused. */
@Entity('order_event')
export class OrderEventEntity {
  @PrimaryColumn({ type: 'text', name: 'order_number', primaryKeyConstraintName: 'order_event_pkey' })
  orderNumber: string;

  /** The order's version after the step. */
  @PrimaryColumn({ type: 'int', primaryKeyConstraintName: 'order_event_pkey' })
  version: number;

  @Column({ type: 'text' })
  type: StepType;

  @Column({ ...time })
  at: Date;

  @Column({ type: 'text', name: 'message_id' })
  messageId: string;

  @Column({ type: 'text', name: 'correlation_id' })
  correlationId: string;

  /** Set when the message is ours: its place in the outbox, decimal text. */
  @Column({ type: 'bigint', name: 'outbox_seq', nullable: true })
  outboxSeq: string | null;

  /** Null where no record caused the step. */
  @Column({ type: 'text', nullable: true })
  topic: string | null;

  @Column({ type: 'int', nullable: true })
  partition: number | null;

  /** Set when the message is the partner's; ours gets its place by a receipt. Decimal text. */
  @Column({ type: 'bigint', nullable: true })
  offset: string | null;

  @Column({ type: 'jsonb', nullable: true })
  detail: OrderEventDetail | null;
}

/** A POST that was accepted: the same key answers with the first answer again until the row expires. */
@Entity('idempotency_key')
@Index('idempotency_key_created', { synchronize: false })
export class IdempotencyKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'idempotency_key_pkey' })
  caller: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'idempotency_key_pkey' })
  key: string;

  @Column({ type: 'bytea', name: 'request_hash' })
  requestHash: Buffer;

  @Column({ type: 'text', name: 'order_number' })
  orderNumber: string;

  /** The order's version that the request made. */
  @Column({ type: 'int', default: 1 })
  version: number;

  @Column({ ...time, name: 'created_at' })
  createdAt: Date;
}
