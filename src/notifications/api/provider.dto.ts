import { ApiProperty } from '@nestjs/swagger';
import { nullableText, nullableTime, timeOf } from '../../platform/http';
import { type Channel, CHANNELS } from '../domain/notification';
import { providerInWords, tryingInWords } from '../domain/standing';
import type { ProviderRow } from './provider-desk';

/** Who sends: its limits, its health, and what waits for it. The same for all processes. */
export class NotificationProviderDto {
  @ApiProperty({ description: 'email, sms or webhook/<receiver>', example: 'email' })
  name: string;

  @ApiProperty({ enum: CHANNELS, example: 'email' })
  channel: Channel;

  @ApiProperty(nullableText('warehouse', 'Whose webhook it is'))
  receiver: string | null;

  @ApiProperty({ description: 'false: what waits for it goes on waiting until it expires', example: true })
  configured: boolean;

  @ApiProperty({
    description: 'How it does, in words',
    example:
      'The provider email does not serve us since 2026-02-03T12:01:00.000Z (smtp-unreachable); next try at 2026-02-03T12:03:00.000Z.',
  })
  standing: string;

  @ApiProperty({ description: 'Most that it is asked a second, by all processes together', example: 10 })
  perSecond: number;

  @ApiProperty({ description: 'Failures of its own in a row', example: 0 })
  failures: number;

  @ApiProperty(nullableTime())
  failingSince: string | null;

  @ApiProperty(nullableTime('Nothing is sent before; then one notification, as a trial'))
  openUntil: string | null;

  @ApiProperty(nullableTime('Since when nothing is sent until somebody enables it'))
  disabledAt: string | null;

  @ApiProperty(nullableText('It answered 503 for 5 days.'))
  disabledReason: string | null;

  @ApiProperty(nullableTime())
  lastSuccessAt: string | null;

  @ApiProperty(nullableText('smtp-unreachable', 'What it failed of last'))
  lastCode: string | null;

  @ApiProperty(nullableText('The mail server cannot be reached.'))
  lastDetail: string | null;

  @ApiProperty({
    description: 'Notifications that are pending or being sent; of partners that the caller may see',
    example: 12,
  })
  waiting: number;

  @ApiProperty(nullableTime('When the oldest of them was made'))
  oldestWaitingAt: string | null;

  @ApiProperty({
    description: 'Of which nobody knows whether they went out; of partners that the caller may see',
    example: 0,
  })
  unknown: number;

  static of(row: ProviderRow, configured: boolean, perSecond: number): NotificationProviderDto {
    const { name, channel, receiver, failures, disabledReason, lastCode, lastDetail, waiting, unknown } = row;
    const held = providerInWords({ ...row, configured }, row.now);
    const standing =
      held === undefined
        ? tryingInWords(failures, { ...row, configured })
        : `${held.charAt(0).toUpperCase()}${held.slice(1)}.`;
    return {
      ...{ name, channel, receiver, configured, standing, perSecond, failures },
      failingSince: timeOf(row.failingSince),
      // Once it has passed nothing is held up any more.
      openUntil: row.openUntil !== null && row.openUntil > row.now ? timeOf(row.openUntil) : null,
      disabledAt: timeOf(row.disabledAt),
      disabledReason,
      lastSuccessAt: timeOf(row.lastSuccessAt),
      ...{ lastCode, lastDetail, waiting, unknown, oldestWaitingAt: timeOf(row.oldestWaitingAt) },
    };
  }
}

export class NotificationProviderPageDto {
  @ApiProperty({ type: [NotificationProviderDto], description: 'By name' })
  items: NotificationProviderDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
