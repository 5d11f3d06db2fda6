import { ApiProperty } from '@nestjs/swagger';
import { ORDER_NUMBER_PATTERN } from '../../contracts';
import type { DeadLetter } from './dead-letter';
import { DeadLetterDto } from './dead-letter.dto';
import type { LetterAttempt, LetterHistory, LetterReplay } from './dead-letter-list';
import { EDIT_STATES, type LetterEdit } from './edits';
import type { RecordContent, ShownBytes } from './record-content';
import { nullableText, nullableTime, TIME_EXAMPLE, timeOf } from './words';

class AttemptDto {
  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  at: string;

  @ApiProperty({ example: 'too-early' })
  code: string;

  @ApiProperty(nullableText('The order is not known yet.'))
  detail: string | null;
}

class LetterReplayDto {
  @ApiProperty({ example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11' })
  id: string;

  @ApiProperty({ example: 'done' })
  state: string;

  @ApiProperty({ description: 'Of this message', example: 'failed-again' })
  outcome: string;

  @ApiProperty(nullableText('illegal-transition'))
  code: string | null;

  @ApiProperty(nullableText('The order is cancelled.'))
  detail: string | null;

  @ApiProperty(nullableTime())
  at: string | null;
}

class LetterEditDto {
  @ApiProperty({ example: '17' })
  id: string;

  @ApiProperty({ description: '`ce_id` under which it is applied', example: '0b4ad6a8-0d5c-4b1d-9f0c-2d0f4b1a7e55' })
  messageId: string;

  @ApiProperty({ enum: EDIT_STATES, example: 'approved' })
  state: LetterEdit['state'];

  @ApiProperty({ description: 'It is what would be applied now', example: true })
  current: boolean;

  @ApiProperty({ example: 'decimal comma' })
  reason: string;

  @ApiProperty({ example: 'key_7f3a9c' })
  madeBy: string;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  madeAt: string;

  @ApiProperty(nullableText('key_b02d11'))
  decidedBy: string | null;

  @ApiProperty(nullableTime())
  decidedAt: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, description: 'null to the role viewer' })
  document: unknown;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    nullable: true,
    description:
      'JSON Patch (RFC 6902) from the original, or from null where that cannot be read; a hidden place that was given a value is named also where ' +
      'that is the one it had; null to the role viewer',
    example: [{ op: 'replace', path: '/lines/0/quantity', value: '1.5' }],
  })
  diff: unknown[] | null;
}

class BytesDto implements ShownBytes {
  @ApiProperty(nullableText('4500017', 'null: no printable text, or hidden'))
  text: string | null;

  @ApiProperty(nullableText('NDUwMDAxNw==', 'null: hidden'))
  base64: string | null;

  @ApiProperty({ description: 'Bytes in all', example: 7 })
  length: number;

  @ApiProperty({ description: 'Only the first bytes are shown', example: false })
  truncated: boolean;
}

class HeaderDto {
  @ApiProperty({ example: 'ce_type' })
  name: string;

  @ApiProperty(nullableText('parley.order-response.v1', 'null: no printable text, or hidden'))
  text: string | null;

  @ApiProperty(nullableText('cGFybGV5Lm9yZGVyLXJlc3BvbnNlLnYx', 'null: hidden'))
  base64: string | null;

  @ApiProperty({ example: false })
  truncated: boolean;
}

class TroubleDto {
  @ApiProperty({ example: 'undecodable' })
  code: string;

  @ApiProperty({ example: 'not Avro: it ends within a text' })
  detail: string;
}

class ContentDto implements RecordContent {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description:
      'The decoded document, also one that only breaks a rule; null where it cannot be read. Masked (`•••`): personal data, and what its contract does not describe',
  })
  document: unknown;

  @ApiProperty({ type: TroubleDto, nullable: true, description: 'Why it cannot be read, or is not valid' })
  trouble: TroubleDto | null;

  @ApiProperty({
    description: 'What stands at `pointer`, where that is short',
    nullable: true,
    oneOf: [
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
      { type: 'object' },
      { type: 'array', items: {} },
    ],
    example: '1,5',
  })
  value: unknown;

  @ApiProperty({ type: BytesDto, nullable: true })
  key: BytesDto | null;

  @ApiProperty({
    type: BytesDto,
    nullable: true,
    description: 'The value; whole at …/value. Hidden where it may hold personal data',
  })
  raw: BytesDto | null;

  @ApiProperty({ type: [HeaderDto], description: 'Of headers that nobody knows only the names' })
  headers: HeaderDto[];

  @ApiProperty({
    type: [String],
    description:
      'What is hidden: JSON Pointers to the masks in the document, `raw`, and `header <name>`. POST …/unmasking shows it, for a reason',
    example: ['/driver/name', 'raw'],
  })
  hidden: string[];
}

/** Everything that is known of a dead letter. */
export class DeadLetterViewDto extends DeadLetterDto {
  @ApiProperty(nullableText('/v1/orders/4500017/timeline', 'What happened to its order'))
  timeline: string | null;

  @ApiProperty(nullableText('TypeError: Cannot read properties of undefined', 'What an exception was caused by'))
  rootCause: string | null;

  @ApiProperty({ type: [AttemptDto], description: 'The last 20, the oldest first' })
  attemptLog: AttemptDto[];

  @ApiProperty({ type: [LetterReplayDto], description: 'The newest first' })
  replays: LetterReplayDto[];

  @ApiProperty({ type: [LetterEditDto], description: 'In the order in which they were made' })
  edits: LetterEditDto[];

  @ApiProperty({
    type: ContentDto,
    nullable: true,
    description: 'For the role support and above; null to the role viewer',
  })
  content: ContentDto | null;

  static view(
    letter: DeadLetter,
    parts: { history: LetterHistory; replays: LetterReplay[]; edits: LetterEdit[]; content: RecordContent | null },
  ): DeadLetterViewDto {
    const { history, replays, edits, content } = parts;
    return {
      ...DeadLetterDto.of(letter),
      timeline: timelineOf(letter.key),
      rootCause: history.rootCause,
      attemptLog: history.attemptLog.map(({ at, code, detail }: LetterAttempt) => ({ at, code, detail })),
      replays: replays.map((replay) => ({ ...replay, at: timeOf(replay.at) })),
      edits: edits.map((edit) => ({
        ...edit,
        madeAt: edit.madeAt.toISOString(),
        decidedAt: timeOf(edit.decidedAt),
        ...(content === null ? { document: null, diff: null } : {}),
      })),
      content,
    };
  }
}

const NUMBER = new RegExp(ORDER_NUMBER_PATTERN);

/** Keys are order numbers; what can be none has no timeline. */
const timelineOf = (key: string | null): string | null =>
  key !== null && NUMBER.test(key) ? `/v1/orders/${encodeURIComponent(key)}/timeline` : null;
