import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { IsInstant, PageQuery } from '../../../platform/http';
import { DeadLetterFilterDto } from '../dead-letter-filter.dto';
import { ID, REASON, REASON_RULE, TIME_EXAMPLE } from '../words';
import { ITEM_OUTCOMES, type ItemOutcome, MAX_IDS, REPLAY_STATES, type ReplayState, type Selection } from './replay';

export class SelectionDto extends DeadLetterFilterDto implements Selection {
  @ApiPropertyOptional({
    type: [String],
    description: `Ids of dead letters, at most ${MAX_IDS}; then no other member`,
    example: ['4711', '4712'],
  })
  @ValidateIf((selection: SelectionDto) => selection.ids !== undefined)
  @IsArray({ message: 'must be a list of ids' })
  @ArrayMinSize(1, { message: 'must name at least one' })
  @ArrayMaxSize(MAX_IDS, { message: `must name at most ${MAX_IDS}` })
  @Matches(ID, { each: true, message: 'must be ids as they were shown' })
  ids?: string[];

  @ApiPropertyOptional({ description: 'Failed last before this time', format: 'date-time', example: TIME_EXAMPLE })
  @IsOptional()
  @IsInstant()
  until?: string;
}

/** With `?plan=true` a selection, else the plan that is to be started. */
export class ReplayRequestDto {
  /** Read by the pipe that checks bodies. */
  static readonly maxItems = MAX_IDS;

  @ApiPropertyOptional({ type: SelectionDto, description: 'With plan=true: which dead letters; {} means all' })
  @ValidateIf((body: ReplayRequestDto) => body.selection !== undefined)
  @ValidateNested({ message: 'must be an object' })
  @Type(() => SelectionDto)
  selection?: SelectionDto;

  @ApiPropertyOptional({
    description:
      'With plan=true: replay also what would be skipped because replaying it is advised against (its order is closed, say)',
    default: false,
    example: false,
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  includeSkipped?: boolean;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'Without plan=true: the plan to start',
    example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11',
  })
  @IsOptional()
  @IsUUID('all', { message: 'must be the id of a plan' })
  planId?: string;

  @ApiPropertyOptional({
    description: 'Messages per second; left out: as planned, and if that says nothing as fast as it goes',
    minimum: 1,
    maximum: 10_000,
    example: 50,
  })
  @IsOptional()
  @IsInt({ message: 'must be a whole number from 1 to 10000' })
  @Min(1, { message: 'must be a whole number from 1 to 10000' })
  @Max(10_000, { message: 'must be a whole number from 1 to 10000' })
  pacePerSecond?: number;

  @ApiPropertyOptional({ description: 'Without plan=true: why', example: 'acme has mended its prices' })
  @IsOptional()
  @Matches(REASON, REASON_RULE)
  reason?: string;
}

export class ReplayReasonDto {
  @ApiProperty({ description: 'Why; kept in the audit', example: 'the partner asked us to wait' })
  @Matches(REASON, REASON_RULE)
  reason: string;
}

export class PlanQueryDto {
  @ApiPropertyOptional({
    description: 'true: freeze the set and say what would happen; nothing is sent',
    enum: ['true', 'false'],
    example: 'true',
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  plan?: 'true' | 'false';
}

export class ListReplaysDto extends PageQuery {
  @ApiPropertyOptional({ enum: REPLAY_STATES, example: 'running' })
  @IsOptional()
  @IsIn(REPLAY_STATES, { message: `must be one of ${REPLAY_STATES.join(', ')}` })
  state?: ReplayState;
}

export class ListReplayItemsDto extends PageQuery {
  @ApiPropertyOptional({ enum: ITEM_OUTCOMES, example: 'failed-again' })
  @IsOptional()
  @IsIn(ITEM_OUTCOMES, { message: `must be one of ${ITEM_OUTCOMES.join(', ')}` })
  outcome?: ItemOutcome;
}
