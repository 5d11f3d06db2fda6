import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsObject, IsOptional, Matches } from 'class-validator';
import { PARTNER_ID_PATTERN } from '../../contracts';
import { IsInstant, PageQuery } from '../../platform/http';
import { REASON, REASON_RULE, TIME_EXAMPLE, WORD, WORD_RULE } from './words';

// What callers send about dead letters.

export const LIST_STATES = ['open', 'resolved', 'all'] as const;

export class ListDeadLettersDto extends PageQuery {
  @ApiPropertyOptional({ pattern: PARTNER_ID_PATTERN, example: 'acme' })
  @IsOptional()
  @Matches(new RegExp(PARTNER_ID_PATTERN), { message: 'must be a partner id' })
  partner?: string;

  @ApiPropertyOptional({ example: 'orders.acme.response.v1' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  topic?: string;

  @ApiPropertyOptional({ description: 'Name of a contract, or a CloudEvents type', example: 'order-response' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  contract?: string;

  @ApiPropertyOptional({ description: 'Why they died', example: 'invalid' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  code?: string;

  @ApiPropertyOptional({ description: 'Their group', example: '9f86d081884c7d65' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  fingerprint?: string;

  @ApiPropertyOptional({ description: 'Order number: the key of the record', example: '4500017' })
  @IsOptional()
  @Matches(WORD, WORD_RULE)
  order?: string;

  @ApiPropertyOptional({
    description:
      'open: somebody has to do something; resolved: processed by a replay or discarded; all: these, and what waits in a replay',
    enum: LIST_STATES,
    default: 'open',
    example: 'open',
  })
  @IsIn(LIST_STATES, { message: `must be one of ${LIST_STATES.join(', ')}` })
  state: (typeof LIST_STATES)[number] = 'open';

  @ApiPropertyOptional({ description: 'Failed last at or after this time', format: 'date-time', example: TIME_EXAMPLE })
  @IsOptional()
  @IsInstant()
  since?: string;
}

export class ReasonDto {
  @ApiProperty({ description: 'Why; kept in the audit', minLength: 1, maxLength: 500, example: 'acme sent it twice' })
  @Matches(REASON, REASON_RULE)
  reason: string;
}

export class OptionalReasonDto {
  @ApiPropertyOptional({ description: 'Why; kept in the audit', maxLength: 500, example: 'checked by telephone' })
  @IsOptional()
  @Matches(REASON, REASON_RULE)
  reason?: string;
}

export class EditDto extends ReasonDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The whole document as it ought to have been, as JSON whatever the format of the channel',
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
