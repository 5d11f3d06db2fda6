import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, IsOptional, Matches } from 'class-validator';
import { IsInstant, PageQuery } from '../platform/http';
import type { ApiKey } from './api-keys';
import type { AuditRecord } from './audit-log';
import { type Area, AREAS, PARTNER_ID, type Role, ROLES } from './principal';

const TIME = '2026-02-03T04:05:06.789Z';
const ID = 'key_9f86d081884c';
const PRINTABLE = (most: number) => new RegExp(`^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${most}}$`, 'u');

export class CreateApiKeyDto {
  @ApiProperty({ description: 'What people call it', minLength: 1, maxLength: 64, example: 'support desk' })
  @Matches(PRINTABLE(64), { message: 'must be text of 1 to 64 printable characters' })
  name: string;

  @ApiProperty({ description: 'Each may what the one before it may', enum: ROLES, example: 'support' })
  @IsIn(ROLES, { message: `must be one of ${ROLES.join(', ')}` })
  role: Role;

  @ApiPropertyOptional({
    description: 'Areas of the API; left out: all',
    enum: AREAS,
    isArray: true,
    example: ['failures'],
  })
  @IsOptional()
  @IsArray({ message: 'must be a list of areas' })
  @ArrayMinSize(1, { message: 'must name at least one area, or be left out' })
  @ArrayUnique({ message: 'must name each area once' })
  @IsIn(AREAS, { each: true, message: `must each be one of ${AREAS.join(', ')}` })
  areas?: Area[];

  @ApiPropertyOptional({
    description: 'Partners whose data it may see and touch; left out: all',
    type: [String],
    example: ['acme'],
  })
  @IsOptional()
  @IsArray({ message: 'must be a list of partner ids' })
  @ArrayMinSize(1, { message: 'must name at least one partner, or be left out' })
  @ArrayMaxSize(1000, { message: 'must name at most 1000 partners' })
  @ArrayUnique({ message: 'must name each partner once' })
  @Matches(PARTNER_ID, { each: true, message: 'must each be a partner id' })
  partners?: string[];

  @ApiPropertyOptional({ description: 'When it ends; left out: never', format: 'date-time', example: TIME })
  @IsOptional()
  @IsInstant()
  expiresAt?: string;
}

export class RevokeApiKeyDto {
  @ApiPropertyOptional({ description: 'Why; kept in the audit', maxLength: 500, example: 'the laptop was lost' })
  @IsOptional()
  @Matches(PRINTABLE(500), { message: 'must be text of 1 to 500 printable characters' })
  reason?: string;
}

/** A key as the API shows it: never with its secret or what is kept of that. */
export class ApiKeyDto {
  @ApiProperty({ description: 'Also the public part of the token', example: ID })
  id: string;

  @ApiProperty({ example: 'support desk' })
  name: string;

  @ApiProperty({ enum: ROLES, example: 'support' })
  role: Role;

  @ApiProperty({ description: 'null: all', enum: AREAS, isArray: true, nullable: true, example: ['failures'] })
  areas: readonly Area[] | null;

  @ApiProperty({ description: 'null: all', type: [String], nullable: true, example: ['acme'] })
  partners: readonly string[] | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  createdAt: string;

  @ApiProperty({
    description: 'Id of the key that made it, or `cli:` and the user of the machine',
    example: 'cli:parley',
  })
  createdBy: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME })
  expiresAt: string | null;

  @ApiProperty({ description: 'To the minute', type: String, format: 'date-time', nullable: true, example: TIME })
  lastUsedAt: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  revokedAt: string | null;

  static of({ id, name, role, areas, partners, createdBy, ...times }: ApiKey): ApiKeyDto {
    const iso = (time: Date | null) => time?.toISOString() ?? null;
    return {
      ...{ id, name, role, areas, partners, createdAt: times.createdAt.toISOString(), createdBy },
      ...{ expiresAt: iso(times.expiresAt), lastUsedAt: iso(times.lastUsedAt), revokedAt: iso(times.revokedAt) },
    };
  }
}

export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ description: 'The key itself; shown now and never again', example: `parley_${ID}_…` })
  token: string;
}

export class ApiKeyPageDto {
  @ApiProperty({ type: [ApiKeyDto] })
  items: ApiKeyDto[];

  @ApiProperty({ type: String, nullable: true, example: null })
  nextCursor: string | null;
}

export class ListAuditDto extends PageQuery {
  @ApiPropertyOptional({ description: 'Only what this caller did', example: ID })
  @IsOptional()
  @Matches(PRINTABLE(200), { message: 'must be the id of a caller' })
  caller?: string;

  @ApiPropertyOptional({ description: 'Only this action', example: 'api-key.create' })
  @IsOptional()
  @Matches(PRINTABLE(100), { message: 'must be an action' })
  action?: string;

  @ApiPropertyOptional({ description: 'Only what was done to this', example: `api-key/${ID}` })
  @IsOptional()
  @Matches(PRINTABLE(400), { message: 'must be an object as the audit names it' })
  object?: string;

  @ApiPropertyOptional({ description: 'Only what concerns this partner', pattern: PARTNER_ID.source, example: 'acme' })
  @IsOptional()
  @Matches(PARTNER_ID, { message: 'must be a partner id' })
  partner?: string;

  @ApiPropertyOptional({ description: 'Only what callers of this role did', enum: ROLES, example: 'support' })
  @IsOptional()
  @IsIn(ROLES, { message: `must be one of ${ROLES.join(', ')}` })
  role?: Role;

  @ApiPropertyOptional({ description: 'Only what was done at or after this time', format: 'date-time', example: TIME })
  @IsOptional()
  @IsInstant()
  since?: string;
}

export class AuditEntryDto {
  @ApiProperty({ example: '4711' })
  id: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  at: string;

  @ApiProperty({ description: 'Who: id of the key, or `cli:` and the user of the machine', example: ID })
  caller: string;

  @ApiProperty({ example: 'support desk' })
  callerName: string;

  @ApiProperty({ enum: ROLES, example: 'admin' })
  role: Role;

  @ApiProperty({ example: 'api-key.revoke' })
  action: string;

  @ApiProperty({ example: `api-key/${ID}` })
  object: string;

  @ApiProperty({ type: String, nullable: true, example: 'acme' })
  partner: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'the laptop was lost' })
  reason: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: { role: 'support' } })
  detail: Record<string, unknown> | null;

  @ApiProperty({ description: 'Network address, or the name of the machine', example: '10.0.0.7' })
  origin: string;

  static of(entry: AuditRecord): AuditEntryDto {
    return { ...entry, at: entry.at.toISOString() };
  }
}

export class AuditPageDto {
  @ApiProperty({ type: [AuditEntryDto] })
  items: AuditEntryDto[];

  @ApiProperty({ type: String, nullable: true, example: null })
  nextCursor: string | null;
}
