import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import type { Exchange, ExchangeState } from '../messaging/exchanges';
import { REASON } from './cancellation.dto';
import type { AwaitedExchange } from './domain/awaited';
import { awaited } from './domain/awaited';
import type { SentMessage } from './order-exchanges';

const TIME = '2026-02-03T05:00:00.000Z';
const ID = '7f0f3c1e-50f5-4a3e-8f0e-1b6a0d9c2e44';
const STATES: readonly ExchangeState[] = [
  'awaiting',
  'acknowledged',
  'answered',
  'overdue',
  'answered-late',
  'withdrawn',
];

export class WithdrawExchangeDto {
  @ApiProperty({
    description: 'For staff and the audit; the partner is not told. One line',
    minLength: 1,
    maxLength: 2000,
    example: 'settled by telephone',
  })
  @Matches(REASON, { message: 'must be text of 1 to 2000 printable characters on one line, not blank' })
  reason: string;
}

/** One time that a request of ours was sent. */
export class SendingDto {
  @ApiProperty({ description: '`ce_id`; the same each time', example: '0b4ad6a8-0d5c-4b1d-9f0c-2d0f4b1a7e55' })
  messageId: string;

  @ApiProperty({ example: 'orders.acme.request.v1' })
  topic: string;

  @ApiProperty({ example: 3 })
  partition: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Decimal text; null while it waits to be published',
    example: '1042',
  })
  offset: string | null;

  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: TIME })
  sentAt: string | null;
}

/** A request and what came back. */
export class ExchangeDto {
  @ApiProperty({ description: '`ce_correlationid`', example: ID })
  correlationId: string;

  @ApiProperty({ description: "The request's document", example: 'order-request' })
  kind: string;

  @ApiProperty({ enum: ['out', 'in'], description: '`out`: we asked; `in`: the partner did', example: 'out' })
  direction: 'out' | 'in';

  @ApiProperty({
    enum: STATES,
    description:
      '`acknowledged`: an interim answer came, the final one is due by `deadline`; `overdue` → `answered-late`; `withdrawn`: nobody waits any more, see `endReason`',
    example: 'awaiting',
  })
  state: ExchangeState;

  @ApiProperty({ format: 'date-time', example: TIME })
  openedAt: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'When the answer is due now; sending again and an interim answer move it',
    example: TIME,
  })
  deadline: string | null;

  @ApiProperty({ description: 'How often the request was sent again, under the same message id', example: 0 })
  resends: number;

  @ApiProperty({ type: [SendingDto], description: 'Each time that our request was sent, and its place in Kafka' })
  sent: SendingDto[];

  @ApiProperty({ type: String, nullable: true, description: '`ce_id` of the last answer', example: null })
  answerMessageId: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Its code (UN/CEFACT 4343)', example: 'AP' })
  answerCode: string | null;

  @ApiProperty({ type: String, nullable: true, format: 'date-time', example: TIME })
  answeredAt: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    description: 'When it became overdue or was withdrawn',
    example: null,
  })
  endedAt: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  endReason: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What it waits for, for people; null when for nothing',
    example: "Waiting for acme's final answer, due in 50 min (2026-02-03T05:00:00.000Z).",
  })
  waitsFor: string | null;

  static of(
    exchange: Exchange,
    sent: readonly SentMessage[],
    request: AwaitedExchange | undefined,
    now: Date,
  ): ExchangeDto {
    const { correlationId, kind, direction, state, openedAt, deadline, resends } = exchange;
    const { answerMessageId, answerCode, answeredAt, endedAt, endReason } = exchange;
    return {
      ...{ correlationId, kind, direction, state },
      ...{ openedAt: openedAt.toISOString(), deadline: iso(deadline), resends },
      sent: sent.map(({ messageId, topic, partition, place }) => ({
        ...{ messageId, topic, partition },
        ...{ offset: place?.offset ?? null, sentAt: iso(place?.sentAt) },
      })),
      ...{ answerMessageId, answerCode, answeredAt: iso(answeredAt) },
      ...{ endedAt: iso(endedAt), endReason },
      waitsFor: (request && awaited(request, now)?.text) ?? null,
    };
  }
}

export class ExchangeListDto {
  @ApiProperty({ type: [ExchangeDto], description: 'Oldest first' })
  items: ExchangeDto[];
}

const iso = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;
