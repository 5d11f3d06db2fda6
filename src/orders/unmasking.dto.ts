import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';

/** Why somebody has to see personal data. */
export class UnmaskDto {
  @ApiProperty({
    description: 'Why; kept in the audit. One line',
    minLength: 1,
    maxLength: 500,
    example: 'acme cannot reach the contact: reading it to them',
  })
  @Matches(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,500}$/u, {
    message: 'must say why, in 1 to 500 printable characters',
  })
  reason: string;
}
