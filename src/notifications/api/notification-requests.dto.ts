import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { ORDER_NUMBER_PATTERN, PARTNER_ID_PATTERN } from '../../contracts';
import { PageQuery, ReasonDto } from '../../platform/http';
import { type Channel, CHANNELS, type NotificationState, STATES } from '../domain/notification';
import { RECEIVER_ID_PATTERN } from '../domain/receiver';

// What callers send about notifications.

const RECEIVER_ID = new RegExp(RECEIVER_ID_PATTERN);
const KIND = /^[a-z][a-z0-9-]{0,63}$/;

export class ListNotificationsDto extends PageQuery {
  @ApiPropertyOptional({
    description: 'Only those about this order',
    pattern: ORDER_NUMBER_PATTERN,
    example: '4500017',
  })
  @IsOptional()
  @Matches(new RegExp(ORDER_NUMBER_PATTERN), { message: 'must be an order number' })
  order?: string;

  @ApiPropertyOptional({ description: 'Only those in this state', enum: STATES, example: 'unknown' })
  @IsOptional()
  @IsIn(STATES, { message: `must be one of ${STATES.join(', ')}` })
  state?: NotificationState;

  @ApiPropertyOptional({ description: 'Only those of this kind', pattern: KIND.source, example: 'order-accepted' })
  @IsOptional()
  @Matches(KIND, { message: 'must be the name of a kind' })
  kind?: string;

  @ApiPropertyOptional({ description: 'Only those over this channel', enum: CHANNELS, example: 'email' })
  @IsOptional()
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel?: Channel;

  @ApiPropertyOptional({ description: 'Only those to this receiver', pattern: RECEIVER_ID.source, example: 'ops-desk' })
  @IsOptional()
  @Matches(RECEIVER_ID, { message: 'must be a receiver id' })
  receiver?: string;

  @ApiPropertyOptional({ description: 'Only those about this partner', pattern: PARTNER_ID_PATTERN, example: 'acme' })
  @IsOptional()
  @Matches(new RegExp(PARTNER_ID_PATTERN), { message: 'must be a partner id' })
  partner?: string;
}

const RESOLUTIONS = ['delivered', 'not-delivered'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export class ResolutionDto extends ReasonDto {
  @ApiProperty({
    enum: RESOLUTIONS,
    description: 'What was found out: delivered makes it sent, not-delivered failed',
    example: 'delivered',
  })
  @IsIn(RESOLUTIONS, { message: `must be one of ${RESOLUTIONS.join(', ')}` })
  outcome: Resolution;
}
