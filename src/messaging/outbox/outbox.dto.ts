import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { PageQuery } from '../../platform/http';
import { type OutboxStatus, type ParkedLaneStatus } from './parking/outbox-status';
import { PARKED_STATES, type ParkedOutbound, type ParkedState } from './parking/parked-list';
import { reasonOf } from './parking/reasons';

const TIME = '2026-02-03T04:05:06.789Z';
const TOPIC = 'orders.acme.request.v1';
const nullable = { type: String, nullable: true } as const;
const nullableTime = { ...nullable, format: 'date-time', example: TIME };
const REASON = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,500}$/u;
const REASON_RULE = { message: 'must say why, in 1 to 500 printable characters' };

export class OutboxOwnerDto {
  @ApiProperty({ description: 'Process that sends', example: 'parley-7d9c-1' })
  instance: string;

  @ApiProperty({ description: 'Number of the ownership, growing; decimal text', example: '12' })
  epoch: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  leaseUntil: string;
}

export class FailingLaneDto {
  @ApiProperty({ example: TOPIC })
  topic: string;

  @ApiProperty({ example: 3 })
  partition: number;

  @ApiProperty({ format: 'date-time', example: TIME })
  since: string;

  @ApiProperty({ example: 'not-acknowledged' })
  code: string;

  @ApiProperty({ description: 'What happened, and what to do next', example: reasonOf('not-acknowledged') })
  reason: string;

  @ApiProperty({ description: 'Attempts that failed', example: 4 })
  attempts: number;

  @ApiProperty({ description: 'Messages that wait for it in memory', example: 120 })
  rows: number;
}

export class ParkedLaneDto extends FailingLaneDto {
  @ApiProperty({ format: 'date-time', example: TIME })
  nextAttemptAt: string;

  static of({ since, nextAttemptAt, ...lane }: ParkedLaneStatus): ParkedLaneDto {
    return { ...lane, since: since.toISOString(), nextAttemptAt: nextAttemptAt.toISOString() };
  }
}

export class OutboxStatusDto {
  @ApiProperty({ type: OutboxOwnerDto, nullable: true, description: 'null: no relay runs, nothing is sent' })
  owner: OutboxOwnerDto | null;

  @ApiProperty({ description: 'Committed messages that are neither acknowledged nor parked', example: 12 })
  pending: number;

  @ApiProperty({ description: 'false: nobody sends, and this is an upper bound', example: true })
  pendingIsExact: boolean;

  @ApiProperty({ ...nullableTime, description: 'Birth of the oldest of them' })
  oldestPendingAt: string | null;

  @ApiProperty({
    type: [FailingLaneDto],
    description: 'Tried again from memory; parked when it goes on and others flow',
  })
  failingLanes: FailingLaneDto[];

  @ApiProperty({ type: [ParkedLaneDto], description: 'Messages wait in the database; the others go on' })
  parkedLanes: ParkedLaneDto[];

  @ApiProperty({ description: 'Messages that wait for a parked lane', example: 4100 })
  waiting: number;

  @ApiProperty({ description: 'Messages that the broker refuses for good', example: 1 })
  dead: number;

  @ApiProperty({ description: 'Messages behind a dead one of their key', example: 2 })
  held: number;

  @ApiProperty({ description: 'Dead ones that staff have sent again', example: 0 })
  retrying: number;

  @ApiProperty({ ...nullableTime, description: 'Birth of the oldest parked message' })
  oldestParkedAt: string | null;

  static of({ owner, pending, failingLanes, parkedLanes, counts }: OutboxStatus): OutboxStatusDto {
    const { waiting, dead, held, retrying } = counts;
    return {
      owner: owner && { ...owner, leaseUntil: owner.leaseUntil.toISOString() },
      pending: pending.rows,
      pendingIsExact: pending.exact,
      oldestPendingAt: pending.oldest?.toISOString() ?? null,
      failingLanes: failingLanes.map(({ failures, error, ...lane }) => {
        return { ...lane, attempts: failures, reason: reasonOf(lane.code, error) };
      }),
      parkedLanes: parkedLanes.map((lane) => ParkedLaneDto.of(lane)),
      ...{ waiting, dead, held, retrying },
      oldestParkedAt: counts.oldest?.toISOString() ?? null,
    };
  }
}

export class ListParkedOutboundDto extends PageQuery {
  @ApiPropertyOptional({ example: TOPIC })
  @IsOptional()
  @Matches(/^[\w.-]{1,249}$/, { message: 'must be the name of a topic' })
  topic?: string;

  @ApiPropertyOptional({ enum: PARKED_STATES, description: 'Left out: all but discarded ones', example: 'dead' })
  @IsOptional()
  @IsIn(PARKED_STATES, { message: `must be one of ${PARKED_STATES.join(', ')}` })
  state?: ParkedState;
}

export class RetryOutboundDto {
  @ApiPropertyOptional({ description: 'Why; kept in the audit', maxLength: 500, example: 'the topic is there again' })
  @IsOptional()
  @Matches(REASON, REASON_RULE)
  reason?: string;
}

export class DiscardOutboundDto {
  @ApiProperty({ description: 'Why; kept in the audit', maxLength: 500, example: 'sent to acme by mail' })
  @Matches(REASON, REASON_RULE)
  reason: string;
}

export class ParkedOutboundDto {
  @ApiProperty({ description: 'Number in the outbox; decimal text', example: '48211' })
  seq: string;

  @ApiProperty({ example: TOPIC })
  topic: string;

  @ApiProperty({ example: 3 })
  partition: number;

  @ApiProperty({ description: 'Record key: the order number', example: '4500017' })
  key: string;

  @ApiProperty({ description: '`ce_id`', example: '0b4ad6a8-0d5c-4b1d-9f0c-2d0f4b1a7e55' })
  messageId: string;

  @ApiProperty({ enum: PARKED_STATES, example: 'dead' })
  state: ParkedState;

  @ApiProperty({ ...nullable, example: 'message-too-large' })
  code: string | null;

  @ApiProperty({ description: 'What happened, and what to do next', example: reasonOf('message-too-large') })
  detail: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  parkedAt: string;

  @ApiProperty({ ...nullable, description: 'Set when staff send it again', example: null })
  replayId: string | null;

  @ApiProperty({ ...nullable, description: 'Who did', example: null })
  replayBy: string | null;

  @ApiProperty({ description: 'How often', example: 0 })
  replayAttempt: number;

  @ApiProperty({ ...nullable, example: null })
  discardedBy: string | null;

  @ApiProperty({ ...nullable, example: null })
  discardReason: string | null;

  @ApiProperty({ ...nullable, format: 'date-time', example: null })
  discardedAt: string | null;

  static of({ parkedAt, discardedAt, ...message }: ParkedOutbound): ParkedOutboundDto {
    return { ...message, parkedAt: parkedAt.toISOString(), discardedAt: discardedAt?.toISOString() ?? null };
  }
}

export class ParkedOutboundPageDto {
  @ApiProperty({ type: [ParkedOutboundDto], description: 'By number' })
  items: ParkedOutboundDto[];

  @ApiProperty({ ...nullable, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
