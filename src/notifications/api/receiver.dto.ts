import { ApiProperty } from '@nestjs/swagger';
import { nullableText, nullableTime, TIME_EXAMPLE } from '../../platform/http';
import { type Channel, CHANNELS } from '../domain/notification';
import { QuietHoursDto, SubscriptionDto } from './receiver-body.dto';

// What is shown of receivers.

class WebhookSecretDto {
  @ApiProperty({ example: 2 })
  number: number;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  createdAt: string;

  @ApiProperty(nullableTime('It was replaced, and signs beside the newest until then; null: the newest'))
  validUntil: string | null;
}

class WebhookDto {
  @ApiProperty(nullableTime('Since when nothing is sent there; null: it is sent to'))
  disabledAt: string | null;

  @ApiProperty(nullableText('It answered 503 for 5 days.'))
  disabledReason: string | null;

  @ApiProperty({ type: [WebhookSecretDto], description: 'That sign what is sent, newest first; never themselves' })
  secrets: WebhookSecretDto[];
}

class BadAddressDto {
  @ApiProperty({ enum: CHANNELS, example: 'email' })
  channel: Channel;

  @ApiProperty({ example: 'smtp-unknown-mailbox' })
  code: string;

  @ApiProperty({ example: 'The mail server refused the address: 550 5.1.1.' })
  detail: string;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  since: string;
}

const MASKED = 'A mask where there is one; POST …/unmasking shows it for a reason';

/** A person or system that is told what happens. */
export class ReceiverDto {
  @ApiProperty({ example: 'ops-desk' })
  id: string;

  @ApiProperty({ description: 'Grows with each change; also the ETag', example: 3 })
  version: number;

  @ApiProperty({ example: 'Operations desk' })
  name: string;

  @ApiProperty(nullableText('•••', MASKED))
  email: string | null;

  @ApiProperty(nullableText('•••', MASKED))
  phone: string | null;

  @ApiProperty(nullableText('•••', MASKED))
  webhookUrl: string | null;

  @ApiProperty({ type: QuietHoursDto, nullable: true })
  quietHours: QuietHoursDto | null;

  @ApiProperty({ type: [SubscriptionDto] })
  subscriptions: SubscriptionDto[];

  @ApiProperty({ type: WebhookDto, nullable: true, description: 'null: it has none' })
  webhook: WebhookDto | null;

  @ApiProperty({ type: [BadAddressDto], description: 'Its addresses that a provider refused for good' })
  badAddresses: BadAddressDto[];

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  createdAt: string;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  updatedAt: string;
}

/** What a PUT answers with. */
export class PutReceiverDto extends ReceiverDto {
  @ApiProperty(
    nullableText(
      'shown-once',
      'The secret that signs what is sent to its webhook, told now and never again; null: the webhook has had one, or there is none',
    ),
  )
  webhookSecret: string | null;
}

export class ReceiverPageDto {
  @ApiProperty({ type: [ReceiverDto], description: 'By id' })
  items: ReceiverDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}

export class RotatedSecretDto {
  @ApiProperty({ example: 3 })
  number: number;

  @ApiProperty({ description: 'Told now and never again', example: 'shown-once' })
  secret: string;

  @ApiProperty(nullableTime('Until then the one before it signs, too; null: there was none'))
  oldValidUntil: string | null;
}

class TestNotificationDto {
  @ApiProperty({ format: 'uuid', example: '0b4ad6a8-0d5c-5b1d-9f0c-2d0f4b1a7e55' })
  id: string;

  @ApiProperty({ enum: CHANNELS, example: 'email' })
  channel: Channel;
}

/** What becomes of each shows in the notification. */
export class ReceiverTestDto {
  @ApiProperty({ type: [TestNotificationDto], description: 'One for each of its addresses' })
  notifications: TestNotificationDto[];
}
