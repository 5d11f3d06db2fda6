import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsIn, IsObject } from 'class-validator';
import { PageQuery, ReasonDto } from '../../platform/http';
import { DeadLetterFilterDto } from './dead-letter-filter.dto';

// What callers send about dead letters.

export { OptionalReasonDto, ReasonDto } from '../../platform/http';

const LIST_STATES = ['open', 'resolved', 'all'] as const;

export class ListDeadLettersDto extends IntersectionType(PageQuery, DeadLetterFilterDto) {
  @ApiPropertyOptional({
    description:
      'open: somebody has to do something; resolved: processed by a replay or discarded; all: these, and what waits in a replay',
    enum: LIST_STATES,
    default: 'open',
    example: 'open',
  })
  @IsIn(LIST_STATES, { message: `must be one of ${LIST_STATES.join(', ')}` })
  state: (typeof LIST_STATES)[number] = 'open';
}

export class EditDto extends ReasonDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'The whole document as it ought to have been, as JSON whatever the format of the channel. A mask (`•••`) stands for what would be applied now in its place',
    example: { orderNumber: '4500017', responseCode: 'AP', issuedAt: '2026-02-03T04:06:00.000Z' },
  })
  @IsObject({ message: 'must be a document: a JSON object' })
  document: Record<string, unknown>;
}

/** The message is released; what becomes of it shows in the replay. */
export class ReplayStartedDto {
  @ApiProperty({ example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11' })
  replayId: string;
}
