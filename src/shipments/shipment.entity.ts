import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { DespatchAdviceLine, DespatchDriver } from '../contracts';
import type { Shipment } from './domain/shipment';

// Read through TypeORM; written by the set-based statements of shipment.repository.ts only.

@Entity('shipment')
@Index('shipment_order', ['orderNumber', 'orderVersion'], { unique: true })
export class ShipmentEntity implements Shipment {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'shipment_pkey' })
  partner: string;

  @PrimaryColumn({ type: 'text', name: 'despatch_number', primaryKeyConstraintName: 'shipment_pkey' })
  despatchNumber: string;

  @Column({ type: 'text', name: 'order_number' })
  orderNumber: string;

  @Column({ type: 'int', name: 'order_version' })
  orderVersion: number;

  @Column({ type: 'text', name: 'message_id' })
  messageId: string;

  @Column({ type: 'text', name: 'issued_at' })
  issuedAt: string;

  @Column({ type: 'text', nullable: true })
  carrier: string | null;

  @Column({ type: 'text', name: 'tracking_number', nullable: true })
  trackingNumber: string | null;

  @Column({ type: 'bigint', name: 'gross_weight_grams', nullable: true })
  grossWeightGrams: string | null;

  @Column({ type: 'jsonb' })
  lines: DespatchAdviceLine[];

  @Column({ type: 'jsonb', nullable: true })
  driver: DespatchDriver | null;

  @Column({ type: 'timestamptz', precision: 3, name: 'recorded_at' })
  recordedAt: Date;
}
