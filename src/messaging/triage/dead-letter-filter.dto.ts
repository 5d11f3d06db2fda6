import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { PARTNER_ID_PATTERN } from '../../contracts';
import { IsInstant } from '../../platform/http';
import { TIME_EXAMPLE, WORD, WORD_RULE } from './words';

/** Which dead letters: what lists and replays are asked with. */
export class DeadLetterFilterDto {
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

  @ApiPropertyOptional({ description: 'Failed last at or after this time', format: 'date-time', example: TIME_EXAMPLE })
  @IsOptional()
  @IsInstant()
  since?: string;
}
