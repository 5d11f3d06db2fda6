import { ApiProperty } from '@nestjs/swagger';
import { deadLetterTopic } from '../channels';
import { contractOf, type DeadLetter, LETTER_STATES, type LetterState, MOST_HELD } from './dead-letter';
import { nullableText, nullableTime, TIME_EXAMPLE, timeOf } from './words';

/** Where the record's copy for others is. */
class DeadLetterTopicDto {
  @ApiProperty({ example: 'orders.acme.response.v1-dlt' })
  topic: string;

  @ApiProperty({ description: 'The same as the record was on', example: 3 })
  partition: number;

  @ApiProperty(nullableTime('null: not published (yet)'))
  publishedAt: string | null;

  @ApiProperty({ description: 'Failed attempts to publish it', example: 0 })
  attempts: number;

  @ApiProperty(nullableTime('When it is tried next'))
  nextAttemptAt: string | null;

  @ApiProperty(nullableText('This server does not host this topic-partition', 'Why it could not be published'))
  trouble: string | null;
}

/** A message that could not be applied, as lists show it. */
export class DeadLetterDto {
  @ApiProperty({ example: '4711' })
  id: string;

  @ApiProperty({
    enum: LETTER_STATES,
    description:
      '`dead` needs somebody; `waiting` for its next attempt; `held` behind an earlier one of its key; `processed` and `discarded` are resolved',
    example: 'dead',
  })
  state: LetterState;

  @ApiProperty({ description: 'Also the ETag', example: 1 })
  version: number;

  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty(nullableText('4500017', 'Record key: the order number'))
  key: string | null;

  @ApiProperty(nullableText('order-response.v1', 'null: none of the documents known here'))
  contract: string | null;

  @ApiProperty(nullableText('parley.order-response.v1', '`ce_type` as the record says'))
  type: string | null;

  @ApiProperty(nullableText('invalid', 'Why it failed last: stable name'))
  code: string | null;

  @ApiProperty(nullableText('/lines/0/quantity', 'JSON Pointer (RFC 6901) to what is wrong in the document'))
  pointer: string | null;

  @ApiProperty(nullableText('must be an RFC 3339 time with its zone', 'Why it failed last, in words'))
  detail: string | null;

  @ApiProperty(nullableText('inspection', 'Where it failed: inspection, handler, exception or process'))
  failedIn: string | null;

  @ApiProperty(nullableText('9f86d081884c7d65', 'Its group: equal for failures of one cause'))
  fingerprint: string | null;

  @ApiProperty(nullableText('key_7f3a9c', 'Who works on its group'))
  assignee: string | null;

  @ApiProperty({ description: 'Since it was parked or replayed last', example: 12 })
  attempts: number;

  @ApiProperty(nullableTime())
  firstFailedAt: string | null;

  @ApiProperty(nullableTime())
  lastFailedAt: string | null;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  parkedAt: string;

  @ApiProperty(nullableTime('Of one that waits'))
  nextAttemptAt: string | null;

  @ApiProperty({ description: `Later messages of its key that wait for it; counted up to ${MOST_HELD}`, example: 2 })
  held: number;

  @ApiProperty({ example: 'orders.acme.response.v1' })
  topic: string;

  @ApiProperty({ example: 3 })
  partition: number;

  @ApiProperty({ description: 'Decimal text', example: '1042' })
  offset: string;

  @ApiProperty(nullableText('0b4ad6a8-0d5c-4b1d-9f0c-2d0f4b1a7e55', '`ce_id`'))
  messageId: string | null;

  @ApiProperty(nullableText('7f0f3c1e-50f5-4a3e-8f0e-1b6a0d9c2e44', '`ce_correlationid`: the exchange'))
  correlationId: string | null;

  @ApiProperty({ type: DeadLetterTopicDto })
  deadLetterTopic: DeadLetterTopicDto;

  @ApiProperty(nullableText('0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11', 'The replay that released it last'))
  replayId: string | null;

  @ApiProperty(nullableTime())
  resolvedAt: string | null;

  @ApiProperty(nullableText('key_7f3a9c'))
  resolvedBy: string | null;

  @ApiProperty(nullableText('acme sent it twice', 'How it ended, in words'))
  resolution: string | null;

  static of(letter: DeadLetter): DeadLetterDto {
    const { id, state, version, partner, key, type, code, pointer, detail, failedIn, fingerprint, assignee } = letter;
    const { attempts, held, topic, partition, offset, messageId, correlationId } = letter;
    const { replayId, resolvedBy, resolution } = letter;
    return {
      ...{ id, state, version, partner, key, contract: contractOf(type), type, code, pointer, detail, failedIn },
      ...{ fingerprint, assignee, attempts },
      firstFailedAt: timeOf(letter.firstFailedAt),
      lastFailedAt: timeOf(letter.lastFailedAt),
      parkedAt: letter.parkedAt.toISOString(),
      nextAttemptAt: timeOf(letter.nextAttemptAt),
      ...{ held, topic, partition, offset, messageId, correlationId },
      deadLetterTopic: {
        topic: deadLetterTopic(topic),
        partition,
        publishedAt: timeOf(letter.dltPublishedAt),
        attempts: letter.dltAttempts,
        nextAttemptAt: timeOf(letter.dltNextAt),
        trouble: letter.dltTrouble,
      },
      replayId,
      resolvedAt: timeOf(letter.resolvedAt),
      ...{ resolvedBy, resolution },
    };
  }
}

export class DeadLetterPageDto {
  @ApiProperty({ type: [DeadLetterDto], description: 'Newest first' })
  items: DeadLetterDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
