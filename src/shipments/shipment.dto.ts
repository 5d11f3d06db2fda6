import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  despatchAdvice,
  type DespatchAdviceLine,
  type DespatchDriver,
  mask,
  POSITIVE_DECIMAL_PATTERN,
} from '../contracts';
import type { Shipment } from './domain/shipment';

export class ShipmentLineDto implements DespatchAdviceLine {
  @ApiProperty({ description: 'A line of the order', example: 1 })
  lineNumber: number;

  @ApiProperty({ description: 'Decimal as a string', pattern: POSITIVE_DECIMAL_PATTERN, example: '12.5' })
  quantity: string;
}

/** Who brings a despatch. Personal data: answers show masks. */
export class DespatchDriverDto implements DespatchDriver {
  @ApiProperty({ example: 'Sam Roe' })
  name: string;

  @ApiPropertyOptional({ example: '+49 151 5550100' })
  phone?: string;
}

/** A shipment as the API shows it. */
export class ShipmentDto {
  @ApiProperty({ description: "The partner's number of the despatch", example: 'D-900' })
  despatchNumber: string;

  @ApiProperty({
    description: "When the partner issued the advice, in the partner's words",
    example: '2026-02-04T08:00:00.000Z',
  })
  issuedAt: string;

  @ApiProperty({ type: String, nullable: true, example: 'Parcel Ltd' })
  carrier: string | null;

  @ApiProperty({ type: String, nullable: true, description: "The carrier's number", example: 'PX-1' })
  trackingNumber: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Whole grams. Decimal text: it may be larger than a JSON number holds',
    example: '12500',
  })
  grossWeightGrams: string | null;

  @ApiProperty({ type: [ShipmentLineDto] })
  lines: ShipmentLineDto[];

  @ApiProperty({
    type: DespatchDriverDto,
    nullable: true,
    description: 'Who brings it; null where the partner names nobody. Masked: POST …/unmasking tells it, for a reason',
    example: { name: '•••', phone: '•••' },
  })
  driver: DespatchDriverDto | null;

  @ApiProperty({ description: "The order's version after it: its step in the timeline", example: 3 })
  orderVersion: number;

  @ApiProperty({ description: '`ce_id` of the advice', example: 'adv-77' })
  messageId: string;

  @ApiProperty({ format: 'date-time', example: '2026-02-04T08:00:01.000Z' })
  recordedAt: string;

  /** Members in a fixed order. */
  static of(shipment: Shipment): ShipmentDto {
    return ShipmentDto.unmasked({ ...shipment, driver: shownDriver(shipment) });
  }

  /** The same with personal data: for who has said why. */
  static unmasked(shipment: Shipment): ShipmentDto {
    const { despatchNumber, issuedAt, carrier, trackingNumber, grossWeightGrams, orderVersion, messageId } = shipment;
    return {
      ...{ despatchNumber, issuedAt, carrier, trackingNumber, grossWeightGrams },
      lines: shipment.lines.map(({ lineNumber, quantity }) => ({ lineNumber, quantity })),
      driver: shipment.driver && driverOf(shipment.driver),
      ...{ orderVersion, messageId },
      recordedAt: shipment.recordedAt.toISOString(),
    };
  }
}

export class ShipmentPageDto {
  @ApiProperty({ type: [ShipmentDto], description: 'As they were recorded, the oldest first' })
  items: ShipmentDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}

/** Members in a fixed order: jsonb does not keep them. */
const driverOf = ({ name, phone }: DespatchDriver): DespatchDriver => ({ name, ...(phone !== undefined && { phone }) });

/** As the contract of the despatch's document masks it. */
function shownDriver({ driver }: Pick<Shipment, 'driver'>): DespatchDriver | null {
  return driver && (mask(despatchAdvice, { driver }).document as { driver: DespatchDriver }).driver;
}
