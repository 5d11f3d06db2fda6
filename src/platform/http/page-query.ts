import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

const LIMIT = { message: 'must be a whole number from 1 to 200' };

/** Query of every list: DTOs of lists extend it. What a cursor holds is the list's own. */
export class PageQuery {
  @ApiPropertyOptional({
    description: 'Most items of one page',
    type: 'integer',
    minimum: 1,
    maximum: 200,
    default: 50,
    example: 50,
  })
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value,
  )
  @IsInt(LIMIT)
  @Min(1, LIMIT)
  @Max(200, LIMIT)
  limit = 50;

  @ApiPropertyOptional({
    description: '`nextCursor` of the page before',
    example: 'WyIyMDI2LTAyLTAzVDA0OjA1OjA2Ljc4OVoiLCI0NTAwMDE3Il0',
  })
  @IsOptional()
  @Matches(/^[\w-]{1,300}$/, { message: 'must be a cursor as it was given' })
  cursor?: string;
}
