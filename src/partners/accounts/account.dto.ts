import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { type Account, type AccountKind, type AccountState, type AccountWarning, warningOf } from './account';
import type { IssuedAccount } from './account-issuer';
import type { RotationPlan } from './rotation';

const TIME = '2026-02-03T04:05:06.789Z';
const KINDS = ['scram-sha-512', 'tls'] as const satisfies readonly AccountKind[];
const STATES = ['creating', 'active', 'retiring', 'retired'] as const satisfies readonly AccountState[];
const WARNINGS = ['expires-soon', 'expired', 'overdue'] as const satisfies readonly AccountWarning[];
const SUBJECT = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}*]{1,200}$/u;
const HOURS = { message: 'must be a whole number from 0 to 8760' };

/** An account as the API shows it: never with its secret, which is kept nowhere. */
export class AccountDto {
  @ApiProperty({
    description: "Name at the broker; of a certificate what the broker's rule makes of its subject",
    example: 'acme.1',
  })
  username: string;

  @ApiProperty({ enum: KINDS, example: 'scram-sha-512' })
  kind: AccountKind;

  @ApiProperty({
    enum: STATES,
    description:
      'creating: its secret was perhaps told to nobody, and the next rotation makes another; active: the one that new clients get; retiring: replaced, and works until `validUntil`; retired: the broker knows it no more',
    example: 'active',
  })
  state: AccountState;

  @ApiProperty({ format: 'date-time', example: TIME })
  createdAt: string;

  @ApiProperty({
    description: 'Id of the key that made it, or `cli:` and the user of the machine',
    example: 'cli:parley',
  })
  createdBy: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'active: until when it should be replaced (it works on after that); retiring: its end',
    example: TIME,
  })
  validUntil: string | null;

  @ApiProperty({
    type: String,
    enum: WARNINGS,
    nullable: true,
    description: 'overdue: it was replaced and its end has passed, and the broker still knows it',
    example: null,
  })
  warning: AccountWarning | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when its rights are taken away, reversibly',
    example: null,
  })
  disabledAt: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  retiredAt: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      "When a client whose client.id is the account's name was last in a consumer group of the partner. Others, and clients that only write, are never seen",
    example: TIME,
  })
  lastSeenAt: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'From which network address', example: '192.0.2.7' })
  lastSeenFrom: string | null;

  static of(account: Account, now: Date): AccountDto {
    const iso = (time: Date | null) => time?.toISOString() ?? null;
    const { username, kind, state, createdAt, createdBy, lastSeenFrom } = account;
    return {
      ...{ username, kind, state, createdAt: createdAt.toISOString(), createdBy },
      ...{ validUntil: iso(account.validUntil), warning: warningOf(account, now) },
      ...{ disabledAt: iso(account.disabledAt), retiredAt: iso(account.retiredAt) },
      ...{ lastSeenAt: iso(account.lastSeenAt), lastSeenFrom },
    };
  }
}

export class RotationQuery {
  @ApiPropertyOptional({
    description: 'true: only say what would be made',
    enum: ['true', 'false'],
    example: 'true',
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  plan?: 'true' | 'false';
}

export class RotateAccountDto {
  @ApiProperty({
    description:
      'The account that new clients get until now, as the partner shows it. When another has taken its place meanwhile nothing happens, so a repeat makes no further account',
    minLength: 1,
    maxLength: 200,
    example: 'acme.1',
  })
  @Matches(SUBJECT, { message: 'must be the name of the active account' })
  replaces: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'How long the replaced one works on, in hours',
    minimum: 0,
    maximum: 8760,
    default: 336,
    example: 336,
  })
  @IsOptional()
  @IsInt(HOURS)
  @Min(0, HOURS)
  @Max(8760, HOURS)
  oldValidForHours?: number;

  @ApiPropertyOptional({
    description:
      "Only for a partner with certificates of its own: the new one's subject, as the broker's rule makes it",
    maxLength: 200,
    example: 'CN=acme-2027,O=Acme',
  })
  @IsOptional()
  @Matches(SUBJECT, { message: 'must be 1 to 200 printable characters without *' })
  subject?: string;
}

export class ReplacedAccountDto {
  @ApiProperty({ example: 'acme.1' })
  username: string;

  @ApiProperty({ description: 'Until then both work', format: 'date-time', example: TIME })
  until: string;
}

export class NewAccountDto {
  @ApiProperty({ example: 'acme.1' })
  username: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Told now and never again; null for a certificate, and in a plan',
    example: 'shown-once',
  })
  password: string | null;
}

export class RotatedAccountDto extends NewAccountDto {
  @ApiProperty({ enum: KINDS, example: 'scram-sha-512' })
  kind: AccountKind;

  @ApiProperty({
    description: 'An attempt before this one was broken off: its account gets another secret',
    example: false,
  })
  resumes: boolean;

  @ApiProperty({ description: 'When it should be replaced in its turn', format: 'date-time', example: TIME })
  validUntil: string;

  @ApiProperty({ type: ReplacedAccountDto, nullable: true })
  replaces: ReplacedAccountDto | null;

  /** Without `issued`, the plan of it. */
  static of(
    { username, kind, resumes, validUntil, replaces }: RotationPlan,
    issued?: IssuedAccount,
  ): RotatedAccountDto {
    return {
      ...{ username, kind, password: issued?.password ?? null, resumes, validUntil: validUntil.toISOString() },
      replaces: replaces && { username: replaces.username, until: replaces.until.toISOString() },
    };
  }
}
