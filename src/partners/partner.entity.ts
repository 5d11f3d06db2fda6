import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

export type PartnerState = 'active' | 'suspended';

export interface Partner {
  /** `[a-z][a-z0-9-]{0,31}`; part of topic names and accounts. */
  id: string;
  name: string;
  state: PartnerState;
  createdAt: Date;
}

@Entity('partner')
@Check('partner_id_check', `id ~ '^[a-z][a-z0-9-]{0,31}$'`)
@Check('partner_state_check', `state IN ('active', 'suspended')`)
export class PartnerEntity implements Partner {
  @PrimaryColumn('text')
  id: string;

  @Column('text')
  name: string;

  @Column('text', { default: 'active' })
  state: PartnerState;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt: Date;
}
