import { ApiProperty } from '@nestjs/swagger';
import { nullableText, nullableTime, TIME_EXAMPLE } from '../../platform/http';
import { type Attempt, type Channel, CHANNELS, type NotificationState, STATES } from '../domain/notification';
import { type StaffVerb, STAFF_VERBS } from './may';

const ID_EXAMPLE = '0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55';

export class NamedReceiverDto {
  @ApiProperty({ description: 'A mask for who is confined to some partners', example: 'ops-desk' })
  id: string;

  @ApiProperty(nullableText('Operations desk', 'null: it was deleted, or is masked'))
  name: string | null;
}

/** One message to one receiver over one channel. */
export class NotificationDto {
  @ApiProperty({ description: 'Made from its event, receiver and channel', format: 'uuid', example: ID_EXAMPLE })
  id: string;

  @ApiProperty({ description: 'Also the ETag', example: 3 })
  version: number;

  @ApiProperty({ example: 'order-accepted' })
  kind: string;

  @ApiProperty({
    description: 'What such notifications tell',
    example: 'A partner accepted an order as it was placed.',
  })
  summary: string;

  @ApiProperty({ enum: CHANNELS, example: 'email' })
  channel: Channel;

  @ApiProperty({ description: 'Who sends it: email, sms or webhook/<receiver>', example: 'email' })
  provider: string;

  @ApiProperty({
    type: NamedReceiverDto,
    nullable: true,
    description: 'null: whoever asked for it named an address, and no receiver',
  })
  receiver: NamedReceiverDto | null;

  @ApiProperty({
    description: "A mask; POST …/unmasking shows it for a reason, a receiver's only to who is confined to no partner",
    example: '•••',
  })
  address: string;

  @ApiProperty(nullableText('acme', 'Whom it is about'))
  partner: string | null;

  @ApiProperty(nullableText('4500017', 'What it is about'))
  orderNumber: string | null;

  @ApiProperty({ description: 'What happened; told again it makes nothing new', example: 'order/4500017/3' })
  eventId: string;

  @ApiProperty({
    enum: STATES,
    description: 'unknown: it may or may not have gone out, and a person decides (resolution)',
    example: 'pending',
  })
  state: NotificationState;

  @ApiProperty({
    description: 'Where it stands, and what happens next, in words',
    example: 'Waits for the quiet hours of its receiver to end at 2026-02-03T07:00:00.000Z.',
  })
  standing: string;

  @ApiProperty({ description: 'Whether its last attempt had its effect is not known', example: false })
  doubtful: boolean;

  @ApiProperty(nullableText('smtp-unreachable', 'Why its last attempt did not end well: stable name'))
  code: string | null;

  @ApiProperty(nullableText('The mail server cannot be reached.', 'The same, in words'))
  detail: string | null;

  @ApiProperty({ description: 'Attempts that were begun', example: 1 })
  attempts: number;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  happenedAt: string;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  createdAt: string;

  @ApiProperty(nullableTime('Of one that is pending: not before'))
  nextAttemptAt: string | null;

  @ApiProperty({ description: 'After that it is not sent any more', format: 'date-time', example: TIME_EXAMPLE })
  expiresAt: string;

  @ApiProperty(nullableTime('null: it is not settled'))
  settledAt: string | null;

  @ApiProperty(nullableText(ID_EXAMPLE, 'The notification that staff had sent anew as this one'))
  resendOf: string | null;

  @ApiProperty({ type: [String], description: 'Notifications that staff had sent anew from this one', example: [] })
  resends: string[];
}

/** What was tried: one row an attempt. */
export class AttemptDto {
  @ApiProperty({ example: 1 })
  number: number;

  @ApiProperty({
    enum: ['send', 'look-up'],
    description: 'look-up: the provider was asked whether an earlier one had reached it',
    example: 'send',
  })
  action: Attempt['action'];

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  begunAt: string;

  @ApiProperty(nullableTime())
  endedAt: string | null;

  @ApiProperty(nullableText('accepted', 'null: nobody has heard its end'))
  outcome: string | null;

  @ApiProperty(nullableText('smtp-refused'))
  code: string | null;

  @ApiProperty(nullableText('The mail server refused it: 550 5.1.1.', 'Without the address'))
  detail: string | null;

  @ApiProperty(nullableText('2.0.0 queued as 4F2A1', "The provider's own name for it"))
  providerReference: string | null;

  @ApiProperty({ description: 'The process that made it', example: 'parley-7d9f8b' })
  notifier: string;
}

/** A notification with its attempts. */
export class NotificationViewDto extends NotificationDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description:
      'What it tells. Masked where another system asked for it (that is personal data); null of a kind that is secret',
    example: { orderNumber: '4500017', partner: { id: 'acme', name: 'Acme Ltd' }, at: TIME_EXAMPLE },
  })
  data: Record<string, unknown> | null;

  @ApiProperty({ type: [AttemptDto], description: 'Oldest first' })
  history: AttemptDto[];

  @ApiProperty({
    enum: STAFF_VERBS,
    isArray: true,
    description: 'What staff can do about it as it stands, roles apart; unmark: its address was refused for good',
    example: ['cancel'],
  })
  may: StaffVerb[];
}

/** {@link NotificationViewDto} with the address and what is sent. */
export class UnmaskedNotificationDto extends NotificationViewDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description:
      'What is sent: subject, text and html (email), text (sms), body (webhook); null before the first attempt, which makes it',
    example: { channel: 'sms', text: 'Acme Ltd accepted order 4500017.' },
  })
  content: Record<string, unknown> | null;
}

export class NotificationPageDto {
  @ApiProperty({ type: [NotificationDto], description: 'Newest first' })
  items: NotificationDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
