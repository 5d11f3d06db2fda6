import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { PartnerState } from '../messaging/channels';

export interface Partner {
  /** `[a-z][a-z0-9-]{0,31}`; part of topic names and accounts. */
  id: string;
  name: string;
  state: PartnerState;
  /** Grows with every change of state. */
  version: number;
  /** Since when, why and by whom it is in this state; null: since it was added. */
  stateSince: Date | null;
  stateReason: string | null;
  stateBy: string | null;
  createdAt: Date;
}

@Entity('partner')
@Check('partner_id_check', `id ~ '^[a-z][a-z0-9-]{0,31}$'`)
@Check('partner_state_check', `state IN ('active', 'paused', 'suspended')`)
export class PartnerEntity implements Partner {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  name: string;

  @Column('text', { default: 'active' })
  state: PartnerState;

  @Column('int', { default: 1 })
  version: number;

  @Column({ type: 'timestamptz', name: 'state_since', precision: 3, nullable: true })
  stateSince: Date | null;

  @Column('text', { name: 'state_reason', nullable: true })
  stateReason: string | null;

  @Column('text', { name: 'state_by', nullable: true })
  stateBy: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt: Date;
}
