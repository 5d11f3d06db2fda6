import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches, ValidateIf } from 'class-validator';
import { PageQuery } from '../../platform/http';
import { contractOf } from './dead-letter';
import type { FailureGroup, GroupChange } from './failure-groups';
import { nullableText, nullableTime, timeOf, WORD, WORD_RULE } from './words';

const STATES = ['open', 'all'] as const;
/** Of several lines. */
const NOTE = /^(?:[^\p{Cc}\p{Cs}]|[\n\r\t]){1,4000}$/u;

export class ListGroupsDto extends PageQuery {
  @ApiPropertyOptional({
    description: 'open: groups with a dead letter; all: also those whose dead letters are all resolved',
    enum: STATES,
    default: 'open',
    example: 'open',
  })
  @IsIn(STATES, { message: `must be one of ${STATES.join(', ')}` })
  state: (typeof STATES)[number] = 'open';
}

export class ChangeGroupDto implements GroupChange {
  @ApiPropertyOptional(nullableText('key_7f3a9c', 'Who works on it; null: nobody; left out: as it is'))
  @ValidateIf((body: ChangeGroupDto) => body.assignee !== undefined && body.assignee !== null)
  @Matches(WORD, WORD_RULE)
  assignee?: string | null;

  @ApiPropertyOptional(
    nullableText('acme mends its export on Monday', 'For colleagues; null: none; left out: as it is'),
  )
  @ValidateIf((body: ChangeGroupDto) => body.note !== undefined && body.note !== null)
  @Matches(NOTE, { message: 'must be text of 1 to 4000 characters' })
  note?: string | null;
}

/** Dead letters of one cause. */
export class FailureGroupDto {
  @ApiProperty({ example: '9f86d081884c7d65' })
  fingerprint: string;

  @ApiProperty({
    description: 'Of assignee and note, which a caller that is confined to partners does not see; also the ETag',
    example: 0,
  })
  version: number;

  @ApiProperty({ description: 'How many need somebody', example: 1042 })
  open: number;

  @ApiProperty(nullableText('invalid'))
  code: string | null;

  @ApiProperty(nullableText('order-response.v1'))
  contract: string | null;

  @ApiProperty(nullableText('parley.order-response.v1'))
  type: string | null;

  @ApiProperty(nullableText('/lines/0/quantity', "The sample's: others of the group may name another item of a list"))
  pointer: string | null;

  @ApiProperty(nullableText('inspection'))
  failedIn: string | null;

  @ApiProperty({ type: [String], description: 'The first ten, those with most first', example: ['acme'] })
  partners: string[];

  @ApiProperty({ example: 1 })
  partnerCount: number;

  @ApiProperty(nullableTime('First failure of those that are open; where none is, of the resolved'))
  firstSeen: string | null;

  @ApiProperty(nullableTime('Last failure of them'))
  lastSeen: string | null;

  @ApiProperty({ description: 'Id of the newest of them', example: '4711' })
  sample: string;

  @ApiProperty(nullableText('key_7f3a9c'))
  assignee: string | null;

  @ApiProperty(nullableText('acme mends its export on Monday'))
  note: string | null;

  static of(group: FailureGroup): FailureGroupDto {
    const { firstSeen, lastSeen } = group;
    return {
      ...group,
      contract: contractOf(group.type),
      firstSeen: timeOf(firstSeen),
      lastSeen: timeOf(lastSeen),
    };
  }
}

export class FailureGroupPageDto {
  @ApiProperty({ type: [FailureGroupDto], description: 'Most open ones first, then those seen last' })
  items: FailureGroupDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
