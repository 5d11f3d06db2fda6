import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import type { Cancellation } from './domain/order';
import type { Requested } from './order-canceller';

/**
 * One line of text that a database, a log and a partner can carry: no control characters, no half surrogate pairs, not
 * blank. Characters are counted as the contract counts them.
 */
export const REASON = /^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,2000}$/u;
const TIME = '2026-02-03T05:00:00.000Z';
const STATES: readonly Cancellation['state'][] = ['requested', 'agreed', 'refused', 'withdrawn'];

export class CancelOrderDto {
  @ApiProperty({
    description: 'For people; the partner reads it too. One line',
    minLength: 1,
    maxLength: 2000,
    example: 'ordered twice',
  })
  @Matches(REASON, { message: 'must be text of 1 to 2000 printable characters on one line, not blank' })
  reason: string;
}

/** The answer to a request to cancel: it was taken, and the partner decides. */
export class CancellationRequestedDto {
  @ApiProperty({ example: '4500017' })
  orderNumber: string;

  @ApiProperty({ enum: ['requested'], example: 'requested' })
  state: 'requested';

  @ApiProperty({ example: 'ordered twice' })
  reason: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  requestedAt: string;

  static of({ orderNumber, reason, requestedAt }: Requested): CancellationRequestedDto {
    return { orderNumber, state: 'requested', reason, requestedAt };
  }
}

/** The last cancellation that was asked for, as an order shows it. */
export class CancellationDto {
  @ApiProperty({
    enum: STATES,
    description:
      '`requested` waits for the partner; `agreed` nothing will be delivered; `refused` the order stands; `withdrawn` staff stopped waiting for the answer',
    example: 'refused',
  })
  state: Cancellation['state'];

  @ApiProperty({ example: 'ordered twice' })
  reason: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  requestedAt: string;

  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: '2026-02-03T05:01:00.000Z' })
  answeredAt: string | null;

  @ApiProperty({ type: String, nullable: true, description: "In the partner's words", example: 'already on its way' })
  answerReason: string | null;

  static of({ state, reason, requestedAt, answeredAt, answerReason }: Cancellation): CancellationDto {
    return { state, reason, requestedAt, answeredAt, answerReason };
  }
}
