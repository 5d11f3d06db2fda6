import { ApiProperty } from '@nestjs/swagger';
import { type DespatchAdviceLine, POSITIVE_DECIMAL_PATTERN } from '../contracts';
import type { Shipment } from './domain/shipment';

export class ShipmentLineDto implements DespatchAdviceLine {
  @ApiProperty({ description: 'A line of the order', example: 1 })
  lineNumber: number;

  @ApiProperty({ description: 'Decimal as a string', pattern: POSITIVE_DECIMAL_PATTERN, example: '12.5' })
  quantity: string;
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

  @ApiProperty({ description: "The order's version after it: its step in the timeline", example: 3 })
  orderVersion: number;

  @ApiProperty({ description: '`ce_id` of the advice', example: 'adv-77' })
  messageId: string;

  @ApiProperty({ format: 'date-time', example: '2026-02-04T08:00:01.000Z' })
  recordedAt: string;

  /** Members in a fixed order. */
  static of(shipment: Shipment): ShipmentDto {
    const { despatchNumber, issuedAt, carrier, trackingNumber, grossWeightGrams, orderVersion, messageId } = shipment;
    return {
      ...{ despatchNumber, issuedAt, carrier, trackingNumber, grossWeightGrams },
      lines: shipment.lines.map(({ lineNumber, quantity }) => ({ lineNumber, quantity })),
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
