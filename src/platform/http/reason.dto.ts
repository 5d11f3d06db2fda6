import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { REASON, REASON_RULE } from './dto-words';

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
