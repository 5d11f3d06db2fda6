import { ApiProperty } from '@nestjs/swagger';
import { type Order, ORDER_STATES, type OrderState, STEP_TYPES } from './domain/order';
import type { StepName, TimelineStep } from './domain/timeline';

const STEPS: readonly StepName[] = [
  ...STEP_TYPES,
  'published',
  'waiting-to-be-published',
  'not-published',
  'answer-waits',
  'answer-held',
  'answer-refused',
  'partner-paused',
  'partner-suspended',
  'waiting-for-answer',
  'answer-due',
  'answer-overdue',
  'notified',
  'notification-waiting',
  'notification-failed',
  'notification-unknown',
  'notification-cancelled',
  'notification-expired',
];

export class TimelineStepDto {
  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    example: '2026-02-03T04:05:06.789Z',
    description: 'null: still to come',
  })
  at: string | null;

  @ApiProperty({ enum: STEPS, example: 'published' })
  step: StepName;

  @ApiProperty({ description: 'What happened, for people', example: 'The order is in Kafka.' })
  text: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: '`ce_id`',
    example: '0b4ad6a8-0d5c-4b1d-9f0c-2d0f4b1a7e55',
  })
  messageId: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: '`ce_correlationid`: the exchange',
    example: '7f0f3c1e-50f5-4a3e-8f0e-1b6a0d9c2e44',
  })
  correlationId: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'orders.acme.request.v1' })
  topic: string | null;

  @ApiProperty({ type: Number, nullable: true, example: 3 })
  partition: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Decimal text: it may be larger than a JSON number holds',
    example: '1042',
  })
  offset: string | null;
}

export class TimelineDto {
  @ApiProperty({ example: '4500017' })
  orderNumber: string;

  @ApiProperty({ enum: ORDER_STATES, example: 'acknowledged' })
  state: OrderState;

  @ApiProperty({ type: [TimelineStepDto] })
  steps: TimelineStepDto[];

  static of({ orderNumber, state }: Order, steps: readonly TimelineStep[]): TimelineDto {
    return { orderNumber, state, steps: steps.map((step) => ({ ...step, at: step.at?.toISOString() ?? null })) };
  }
}
