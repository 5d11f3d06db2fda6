import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import {
  CURRENCY_PATTERN,
  DECIMAL_PATTERN,
  MAX_LINES,
  ORDER_NUMBER_PATTERN,
  PARTNER_ID_PATTERN,
  POSITIVE_DECIMAL_PATTERN,
} from '../contracts';
import { IsInstant, PageQuery } from '../platform/http';
import { CancellationDto } from './cancellation.dto';
import { contactOf, OrderContactDto, shownContact } from './contact.dto';
import { type Order, type OrderLine, ORDER_STATES, type OrderState } from './domain/order';

const DIGITS = 'with at most 18 digits before and 6 after the point';
/**
 * Text that a database, a log and a partner can carry: no control characters, no half surrogate pairs. Its characters are
 * counted as JSON Schema counts them: class-validator's `MaxLength` leaves some out, and the contract would refuse the order.
 */
const ITEM = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,64}$/u;
const MAX_INT = 2_147_483_647;
const TIME = '2026-02-03T04:05:06.789Z';

export class OrderLineDto implements OrderLine {
  @ApiProperty({ description: 'Position, unique in the order', minimum: 1, maximum: MAX_INT, example: 1 })
  @IsInt({ message: 'must be a whole number' })
  @Min(1, { message: 'must be at least 1' })
  @Max(MAX_INT, { message: `must be at most ${MAX_INT}` })
  lineNumber: number;

  @ApiProperty({ description: "The partner's article number", minLength: 1, maxLength: 64, example: 'A-100' })
  @Matches(ITEM, { message: 'must be text of 1 to 64 printable characters' })
  item: string;

  @ApiProperty({
    description: `Decimal as a string, greater than 0, ${DIGITS}`,
    pattern: POSITIVE_DECIMAL_PATTERN,
    example: '12.5',
  })
  @Matches(new RegExp(POSITIVE_DECIMAL_PATTERN), { message: `must be a decimal string greater than 0, ${DIGITS}` })
  quantity: string;

  @ApiProperty({ description: 'UN/ECE Recommendation 20 code', pattern: '^[A-Z0-9]{1,3}$', example: 'C62' })
  @Matches(/^[A-Z0-9]{1,3}$/, { message: 'must be a UN/ECE Recommendation 20 code: 1 to 3 capital letters or digits' })
  unit: string;

  @ApiProperty({
    description: `Per unit, in the order's currency: decimal as a string, ${DIGITS}`,
    pattern: DECIMAL_PATTERN,
    example: '9.99',
  })
  @Matches(new RegExp(DECIMAL_PATTERN), { message: `must be a decimal string, not negative, ${DIGITS}` })
  unitPrice: string;
}

export class PlaceOrderDto {
  @ApiPropertyOptional({
    description: 'Unique; left out: Parley numbers the order',
    pattern: ORDER_NUMBER_PATTERN,
    example: '4500017',
  })
  @ValidateIf((body: PlaceOrderDto) => body.orderNumber !== undefined)
  @Matches(new RegExp(ORDER_NUMBER_PATTERN), {
    message: 'must be 1 to 64 letters, digits, ".", "_" or "-", and not "." or ".." alone',
  })
  orderNumber?: string;

  @ApiProperty({ description: 'Id of the partner', pattern: PARTNER_ID_PATTERN, example: 'acme' })
  @Matches(new RegExp(PARTNER_ID_PATTERN), {
    message: 'must be a partner id: a lower-case letter, then up to 31 lower-case letters, digits or dashes',
  })
  partner: string;

  @ApiProperty({ description: 'ISO 4217 alphabetic code', pattern: CURRENCY_PATTERN, example: 'EUR' })
  @Matches(new RegExp(CURRENCY_PATTERN), { message: 'must be an ISO 4217 code of three capital letters' })
  currency: string;

  @ApiProperty({ type: [OrderLineDto], minItems: 1, maxItems: MAX_LINES })
  @IsArray({ message: 'must be a list of lines' })
  @ArrayMinSize(1, { message: 'must have at least one line' })
  @ArrayMaxSize(MAX_LINES, { message: `must have at most ${MAX_LINES} lines` })
  @ValidateNested({ each: true, message: 'must be a list of lines' })
  @Type(() => OrderLineDto)
  lines: OrderLineDto[];

  @ApiPropertyOptional({
    type: OrderContactDto,
    description:
      'Whom the partner asks about the order. Personal data: it goes to the partner, and is shown masked here',
  })
  @ValidateIf((body: PlaceOrderDto) => body.contact !== undefined)
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  @Type(() => OrderContactDto)
  contact?: OrderContactDto;
}

export class ListOrdersDto extends PageQuery {
  @ApiPropertyOptional({ description: 'Only orders of this partner', pattern: PARTNER_ID_PATTERN, example: 'acme' })
  @IsOptional()
  @Matches(new RegExp(PARTNER_ID_PATTERN), { message: 'must be a partner id' })
  partner?: string;

  @ApiPropertyOptional({ description: 'Only orders in this state', enum: ORDER_STATES, example: 'placed' })
  @IsOptional()
  @IsIn(ORDER_STATES, { message: `must be one of ${ORDER_STATES.join(', ')}` })
  state?: OrderState;

  @ApiPropertyOptional({
    description: 'Only orders that changed at or after this time (RFC 3339)',
    format: 'date-time',
    example: TIME,
  })
  @IsOptional()
  @IsInstant()
  updatedSince?: string;

  @ApiPropertyOptional({
    description:
      'true: only orders of which an answer is overdue (to the order or to its cancellation); false: only the others',
    enum: ['true', 'false'],
    example: 'true',
  })
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  overdue?: 'true' | 'false';
}

/** An order as the API shows it. */
export class OrderDto {
  @ApiProperty({ example: '4500017' })
  orderNumber: string;

  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty({ enum: ORDER_STATES, example: 'placed' })
  state: OrderState;

  @ApiProperty({ description: 'Also the ETag', example: 1 })
  version: number;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({ type: [OrderLineDto], description: 'As ordered' })
  lines: OrderLineDto[];

  @ApiProperty({
    type: OrderContactDto,
    nullable: true,
    description:
      'Whom the partner asks about it, as ordered; null where nobody was named. Masked: POST …/unmasking tells it, for a reason',
    example: { name: '•••', email: '•••' },
  })
  contact: OrderContactDto | null;

  @ApiProperty({
    type: [OrderLineDto],
    nullable: true,
    description: 'What the partner will deliver instead; null unless it accepted with change',
  })
  agreedLines: OrderLineDto[] | null;

  @ApiProperty({
    type: CancellationDto,
    nullable: true,
    description: 'The last cancellation that was asked for; null when there was none',
  })
  cancellation: CancellationDto | null;

  @ApiProperty({
    description:
      "When the partner's final answer was to come, as the order was placed. An interim answer and sending again move that: see the order's exchanges",
    format: 'date-time',
    example: TIME,
  })
  deadline: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'Since when an answer (to the order or to its cancellation) is called overdue; null when none is',
    example: null,
  })
  overdueSince: string | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  createdAt: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  updatedAt: string;

  /** Members in a fixed order (jsonb does not keep them), so that the first answer can be told again byte for byte. */
  static of(order: Order): OrderDto {
    return OrderDto.unmasked({ ...order, contact: shownContact(order) });
  }

  /** The same with personal data: for who has said why. */
  static unmasked(order: Order): OrderDto {
    return {
      orderNumber: order.orderNumber,
      partner: order.partner,
      state: order.state,
      version: order.version,
      currency: order.currency,
      lines: order.lines.map(lineOf),
      contact: order.contact && contactOf(order.contact),
      agreedLines: order.agreedLines?.map(lineOf) ?? null,
      cancellation: order.cancellation && CancellationDto.of(order.cancellation),
      deadline: order.deadline.toISOString(),
      overdueSince: order.overdue?.map(({ since }) => since).sort()[0] ?? null,
      createdAt: order.createdAt.toISOString(),
      updatedAt: order.updatedAt.toISOString(),
    };
  }
}

export class OrderPageDto {
  @ApiProperty({ type: [OrderDto], description: 'Newest first' })
  items: OrderDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}

/** Members in a fixed order. */
export const lineOf = ({ lineNumber, item, quantity, unit, unitPrice }: OrderLine): OrderLine => ({
  lineNumber,
  item,
  quantity,
  unit,
  unitPrice,
});
