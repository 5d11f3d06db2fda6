import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { PARTNER_ID_PATTERN } from '../../contracts';
import { nullableText } from '../../platform/http';
import { type Channel, CHANNELS } from '../domain/notification';

// What callers say a receiver is to be. What depends on the configuration, or on more than one member, is looked at in receiver-rules.ts.

const NAME = /^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const TIME_RULE = { message: 'must be a time of day: 22:00' };
const MOST_SUBSCRIPTIONS = 100;
const HOURS = { message: 'must be a whole number from 0 to 168' };

const TEXT = { message: 'must be text of at most 320 characters' };
const KEEP = 'left out or null: none; a mask keeps what is stored';

export class QuietHoursDto {
  @ApiProperty({ pattern: TIME.source, example: '22:00' })
  @Matches(TIME, TIME_RULE)
  from: string;

  @ApiProperty({ description: 'On the next day where it is before `from`', pattern: TIME.source, example: '07:00' })
  @Matches(TIME, TIME_RULE)
  to: string;

  @ApiProperty({ description: 'IANA time zone', maxLength: 64, example: 'Europe/Berlin' })
  @Matches(/^[A-Za-z][\w+/-]{0,63}$/, { message: 'must be the name of a time zone: Europe/Berlin' })
  timeZone: string;
}

export class SubscriptionDto {
  @ApiProperty({ description: 'What it is told', example: 'order-accepted' })
  @Matches(/^[a-z][a-z0-9-]{0,63}$/, { message: 'must be the name of a kind' })
  kind: string;

  @ApiProperty({ enum: CHANNELS, isArray: true, description: 'Over these, each once', example: ['email'] })
  @IsArray({ message: 'must be a list of channels' })
  @ArrayMinSize(1, { message: 'must have at least one channel' })
  @ArrayMaxSize(CHANNELS.length, { message: 'must name a channel once' })
  @ArrayUnique({ message: 'must name a channel once' })
  @IsIn(CHANNELS, { each: true, message: `must be of ${CHANNELS.join(', ')}` })
  channels: Channel[];

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: 'Only about these partners; left out or null: about all',
    example: ['acme'],
  })
  @IsOptional()
  @IsArray({ message: 'must be a list of partner ids' })
  @ArrayMinSize(1, { message: 'must name a partner, or be left out' })
  @ArrayMaxSize(1000, { message: 'must have at most 1000 partners' })
  @ArrayUnique({ message: 'must name a partner once' })
  @Matches(new RegExp(PARTNER_ID_PATTERN), { each: true, message: 'must be a list of partner ids' })
  partners?: string[] | null;
}

export class ReceiverBodyDto {
  @ApiProperty({ description: 'For people', minLength: 1, maxLength: 100, example: 'Operations desk' })
  @Matches(NAME, { message: 'must be 1 to 100 printable characters' })
  name: string;

  @ApiPropertyOptional({ ...nullableText('ops@example.com', `E-mail address; ${KEEP}`), maxLength: 320 })
  @IsOptional()
  @MaxLength(320, TEXT)
  @IsString(TEXT)
  email?: string | null;

  @ApiPropertyOptional({ ...nullableText('+4915112345678', `Phone number, E.164; ${KEEP}`), maxLength: 16 })
  @IsOptional()
  @MaxLength(16, { message: 'must be text of at most 16 characters' })
  @IsString({ message: 'must be text of at most 16 characters' })
  phone?: string | null;

  @ApiPropertyOptional({
    ...nullableText('https://hooks.example.com/parley', `Where signed webhooks go; ${KEEP}`),
    maxLength: 2048,
  })
  @IsOptional()
  @MaxLength(2048, { message: 'must be text of at most 2048 characters' })
  @IsString({ message: 'must be text of at most 2048 characters' })
  webhookUrl?: string | null;

  @ApiPropertyOptional({
    type: QuietHoursDto,
    nullable: true,
    description: 'Between them, by its clock, only what cannot wait is sent; left out or null: never quiet',
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  @Type(() => QuietHoursDto)
  quietHours?: QuietHoursDto | null;

  @ApiProperty({ type: [SubscriptionDto], description: 'A kind and channel stands in one of them only' })
  @IsArray({ message: 'must be a list of subscriptions' })
  @ArrayMaxSize(MOST_SUBSCRIPTIONS, { message: `must have at most ${MOST_SUBSCRIPTIONS} subscriptions` })
  @ValidateNested({ each: true, message: 'must be a list of subscriptions' })
  @Type(() => SubscriptionDto)
  subscriptions: SubscriptionDto[];
}

export class RotateSecretDto {
  @ApiPropertyOptional({
    type: 'integer',
    description: 'How long the one before it goes on signing beside it, in hours',
    minimum: 0,
    maximum: 168,
    default: 24,
    example: 24,
  })
  @IsOptional()
  @IsInt(HOURS)
  @Min(0, HOURS)
  @Max(168, HOURS)
  oldValidForHours?: number;
}
