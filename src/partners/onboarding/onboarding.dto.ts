import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, Matches } from 'class-validator';
import { FORMATS, type Format } from '../../contracts';
import { NewAccountDto } from '../accounts/account.dto';
import type { Applied } from './onboarder';
import { type PlanView, viewOf } from './plan-view';

const OPS = ['+', '~', '-', '='] as const satisfies readonly PlanView['changes'][number]['op'][];
const KINDS = ['topic', 'acl', 'quota', 'subject', 'user', 'channel', 'partner'] as const satisfies readonly Kind[];
type Kind = PlanView['changes'][number]['kind'];

const flag = ({ value }: { value: unknown }): unknown => (value === 'true' ? true : value === 'false' ? false : value);

export class OnboardingQuery {
  @ApiPropertyOptional({ description: 'Only say what would be done', default: false })
  @IsOptional()
  @Transform(flag)
  @IsBoolean({ message: 'must be true or false' })
  plan?: boolean;

  @ApiPropertyOptional({
    description: 'Do it only if this is still the plan: its `planId`',
    example: '1f0c3a5d9e7b2468',
  })
  @IsOptional()
  @Matches(/^[0-9a-f]{16}$/, { message: 'must be the id of a plan' })
  planId?: string;

  @ApiPropertyOptional({
    description: 'Also take away rights that Parley gave and that are no longer asked for',
    default: false,
  })
  @IsOptional()
  @Transform(flag)
  @IsBoolean({ message: 'must be true or false' })
  allowDelete?: boolean;
}

export class PlannedChangeDto {
  @ApiProperty({
    enum: OPS,
    description: '+ is made, ~ is changed, - is taken away, = is looked after from now on and stays as it is',
    example: '+',
  })
  op: PlanView['changes'][number]['op'];

  @ApiProperty({ enum: KINDS, example: 'topic' })
  kind: Kind;

  @ApiProperty({ example: 'orders.acme.request.v1' })
  name: string;

  @ApiProperty({ description: 'For people', example: 'orders.acme.request.v1 retention.ms 86400000 → 604800000' })
  detail: string;
}

export class PlanNoteDto {
  @ApiProperty({ enum: KINDS, example: 'acl' })
  kind: Kind;

  @ApiProperty({ example: 'User:auditor may Read topic orders.acme.request.v1' })
  name: string;

  @ApiProperty({ example: 'is there and was not made by Parley: kept as it is' })
  why: string;

  @ApiProperty({ description: 'Nothing can be applied as long as this is so', example: false })
  refuses: boolean;
}

export class PlannedChannelDto {
  @ApiProperty({ example: 'orders.acme.request.v1' })
  topic: string;

  @ApiProperty({ enum: ['in', 'out'], description: 'out: Parley writes it', example: 'out' })
  direction: 'in' | 'out';

  @ApiProperty({ enum: FORMATS, example: 'avro' })
  format: Format;

  @ApiProperty({ example: 6 })
  partitions: number;
}

export class OnboardingDto implements PlanView {
  @ApiProperty({ description: 'The same plan has the same id', example: '1f0c3a5d9e7b2468' })
  planId: string;

  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty({ type: [PlannedChangeDto], description: 'What would be done, or was; empty: nothing had to be' })
  changes: PlannedChangeDto[];

  @ApiProperty({ type: [PlanNoteDto], description: 'What stays as it is although it is not as asked for, or not ours' })
  notes: PlanNoteDto[];

  @ApiProperty({ type: [PlannedChannelDto] })
  channels: PlannedChannelDto[];

  @ApiProperty({ type: NewAccountDto, nullable: true, description: 'Null where none was made' })
  account: NewAccountDto | null;

  static of({ plan, account }: Applied): OnboardingDto {
    const told = account && { username: account.username, password: account.password ?? null };
    return { ...viewOf(plan), account: told ?? null };
  }
}
