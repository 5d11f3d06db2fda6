import { ApiProperty } from '@nestjs/swagger';
import { type Direction, type Format, FORMATS } from '../../contracts';
import type { Channel } from '../channels';
import type { ChannelPause } from '../consumer';
import { TIME_EXAMPLE } from './words';

class PauseDto {
  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  since: string;

  @ApiProperty({
    description:
      '`flood`: more dead letters than is bearable; `staff`: somebody paused it; `suspended-full`: as much of a suspended partner is kept as may be',
    example: 'flood',
  })
  code: string;

  @ApiProperty({ example: 'acme asked us to wait' })
  reason: string;

  @ApiProperty({ example: 'key_7f3a9c' })
  by: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The broker may delete what is unread from then on; null: nobody knows yet, or never',
    example: TIME_EXAMPLE,
  })
  unreadKeptUntil: string | null;
}

/** A topic of a partner. */
export class ChannelDto {
  @ApiProperty({ example: 'orders.acme.response.v1' })
  topic: string;

  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty({ enum: ['in', 'out'], description: 'in: the partner writes, we read', example: 'in' })
  direction: Direction;

  @ApiProperty({ enum: FORMATS, example: 'avro' })
  format: Format;

  @ApiProperty({ example: 12 })
  partitions: number;

  @ApiProperty({ type: PauseDto, nullable: true, description: 'null: it is read' })
  paused: PauseDto | null;

  static of({ topic, partner, direction, format, partitions }: Channel, pause: ChannelPause | undefined): ChannelDto {
    const paused = pause && {
      since: pause.since.toISOString(),
      code: pause.code,
      reason: pause.reason,
      by: pause.pausedBy,
      unreadKeptUntil: pause.keptUntil?.toISOString() ?? null,
    };
    return { topic, partner, direction, format, partitions, paused: paused ?? null };
  }
}

export class ChannelPageDto {
  @ApiProperty({ type: [ChannelDto], description: 'By topic' })
  items: ChannelDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
