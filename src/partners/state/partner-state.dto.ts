import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import type { PartnerState } from '../../messaging/channels';
import { REASON, REASON_RULE } from '../../platform/http';
import type { Partner } from '../partner.entity';

const STATES = ['active', 'paused', 'suspended'] as const satisfies readonly PartnerState[];

export class StopPartnerDto {
  @ApiProperty({
    description: 'Why; shown wherever something waits for it, and kept in the audit',
    minLength: 1,
    maxLength: 500,
    example: 'acme moves its data centre',
  })
  @Matches(REASON, REASON_RULE)
  reason: string;
}

export class ResumePartnerDto {
  @ApiPropertyOptional({ description: 'Why; kept in the audit', maxLength: 500, example: 'acme has moved' })
  @IsOptional()
  @Matches(REASON, REASON_RULE)
  reason?: string;
}

/** Whether a partner is served. */
export class PartnerStateDto {
  @ApiProperty({ example: 'acme' })
  id: string;

  @ApiProperty({
    enum: STATES,
    description:
      'paused: nothing is sent to it, what it sends is applied; suspended: nothing is sent, and what it sends is kept, but not applied',
    example: 'suspended',
  })
  state: PartnerState;

  @ApiProperty({ description: 'Grows with each change; also the ETag', example: 3 })
  version: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'null: since it was added',
    example: '2026-02-03T04:05:06.789Z',
  })
  since: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'acme moves its data centre' })
  reason: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Who put it into this state', example: 'key_9f86d081884c' })
  by: string | null;

  static of({ id, state, version, stateSince, stateReason, stateBy }: Partner): PartnerStateDto {
    return { id, state, version, since: stateSince?.toISOString() ?? null, reason: stateReason, by: stateBy };
  }
}
