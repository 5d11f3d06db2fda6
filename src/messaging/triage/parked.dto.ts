import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { PARTNER_ID_PATTERN } from '../../contracts';
import { PageQuery } from '../../platform/http';
import { contractOf, LETTER_STATES, type LetterState, MOST_HELD } from './dead-letter';
import { OptionalReasonDto } from './dead-letters.dto';
import { MOST_RETRIED, type ParkedLetter, reasonOf, type RetrySelection } from './parked-list';
import { nullableText, nullableTime, TIME_EXAMPLE, timeOf, WORD, WORD_RULE } from './words';

const STATES = ['waiting', 'held'] as const;

export class ListParkedDto extends PageQuery {
  @ApiPropertyOptional({ pattern: PARTNER_ID_PATTERN, example: 'acme' })
  @IsOptional()
  @Matches(new RegExp(PARTNER_ID_PATTERN), { message: 'must be a partner id' })
  partner?: string;

  @ApiPropertyOptional({ description: 'Record key: the order number', example: '4500017' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  key?: string;

  @ApiPropertyOptional({
    enum: STATES,
    description: 'waiting: for its next attempt; held: behind an earlier one of its key',
    example: 'waiting',
  })
  @IsOptional()
  @IsIn(STATES, { message: `must be one of ${STATES.join(', ')}` })
  state?: (typeof STATES)[number];
}

export class RetryParkedDto extends OptionalReasonDto implements RetrySelection {
  @ApiPropertyOptional({ pattern: PARTNER_ID_PATTERN, example: 'acme' })
  @IsOptional()
  @Matches(new RegExp(PARTNER_ID_PATTERN), { message: 'must be a partner id' })
  partner?: string;

  @ApiPropertyOptional({ description: 'Record key: the order number', example: '4500017' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  key?: string;

  @ApiPropertyOptional({ description: 'Failed last for this cause', example: '9f86d081884c7d65' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  fingerprint?: string;
}

export class RetryQueryDto {
  @ApiPropertyOptional({
    description: 'true: only say how many it would be',
    enum: ['true', 'false'],
    example: 'true',
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  plan?: 'true' | 'false';
}

export class RetriedDto {
  @ApiProperty({ description: 'Messages that are due now, or would be', example: 12 })
  count: number;

  @ApiProperty({ description: `There are more than the ${MOST_RETRIED} of one request: ask again`, example: false })
  more: boolean;
}

/** A message that waits. */
export class ParkedDto {
  @ApiProperty({ example: '4711' })
  id: string;

  @ApiProperty({ enum: LETTER_STATES, example: 'waiting' })
  state: LetterState;

  @ApiProperty({
    description: 'For what it waits, in words',
    example: 'It waits behind message 4710 of its key, which waits (too-early).',
  })
  reason: string;

  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty(nullableText('4500017', 'Record key: the order number'))
  key: string | null;

  @ApiProperty(nullableText('despatch-advice.v1'))
  contract: string | null;

  @ApiProperty(nullableText('parley.despatch-advice.v1'))
  type: string | null;

  @ApiProperty(nullableText('too-early', 'Why it failed last; null: it was not tried'))
  code: string | null;

  @ApiProperty({ description: 'Since it was parked or replayed last', example: 3 })
  attempts: number;

  @ApiProperty(nullableTime('null while it is held'))
  nextAttemptAt: string | null;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  parkedAt: string;

  @ApiProperty(nullableTime())
  lastFailedAt: string | null;

  @ApiProperty(nullableText('4710', 'The first message of its key before it that is not resolved'))
  behind: string | null;

  @ApiProperty({ description: `Later messages of its key that wait for it; counted up to ${MOST_HELD}`, example: 0 })
  held: number;

  @ApiProperty(nullableText('0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11', 'The replay that released it'))
  replayId: string | null;

  @ApiProperty({ example: 'shipments.acme.request.v1' })
  topic: string;

  @ApiProperty({ example: 3 })
  partition: number;

  @ApiProperty({ description: 'Decimal text', example: '1042' })
  offset: string;

  @ApiProperty(nullableText('0b4ad6a8-0d5c-4b1d-9f0c-2d0f4b1a7e55', '`ce_id`'))
  messageId: string | null;

  static of(letter: ParkedLetter): ParkedDto {
    const { id, state, partner, key, type, code, attempts, held, replayId, topic, partition, offset, messageId } =
      letter;
    return {
      ...{ id, state, reason: reasonOf(letter), partner, key, contract: contractOf(type), type, code, attempts },
      nextAttemptAt: timeOf(letter.nextAttemptAt),
      parkedAt: letter.parkedAt.toISOString(),
      lastFailedAt: timeOf(letter.lastFailedAt),
      ...{ behind: letter.behindId, held, replayId, topic, partition, offset, messageId },
    };
  }
}

export class ParkedPageDto {
  @ApiProperty({ type: [ParkedDto], description: 'Oldest first' })
  items: ParkedDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
