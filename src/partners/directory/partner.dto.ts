import { ApiProperty } from '@nestjs/swagger';
import { FORMATS, type Format } from '../../contracts';
import { AccountDto } from '../accounts/account.dto';
import { PartnerStateDto } from '../state/partner-state.dto';
import type { LastCertification, ListedPartner, ShownPartner } from './partner-directory';

const TIME = '2026-02-03T04:05:06.789Z';
const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

export class CertificationDto {
  @ApiProperty({ description: 'Version of the list of scenarios', example: '1' })
  suite: string;

  @ApiProperty({ description: 'Nothing failed', example: true })
  passed: boolean;

  @ApiProperty({ description: 'Scenarios that failed in any run', type: [String], example: [] })
  failed: string[];

  @ApiProperty({ description: 'Scenarios that were not tried', type: [String], example: ['broker-restart'] })
  skipped: string[];

  @ApiProperty({
    description: 'Brokers at which it was tried; null: not known',
    type: [String],
    nullable: true,
    example: ['kafka:9093'],
  })
  brokers: string[] | null;

  @ApiProperty({ format: 'date-time', example: TIME })
  ranAt: string;

  @ApiProperty({ description: 'Who tried it', example: 'cli:ops' })
  ranBy: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  expiresAt: string;

  @ApiProperty({ example: false })
  expired: boolean;

  static of(certification: LastCertification, now: Date): CertificationDto {
    const { suite, passed, failed, skipped, brokers, ranAt, ranBy, expiresAt } = certification;
    return {
      ...{ suite, passed, failed: [...new Set(failed)], skipped: [...new Set(skipped)], brokers },
      ...{ ranAt: ranAt.toISOString(), ranBy },
      ...{ expiresAt: expiresAt.toISOString(), expired: expiresAt <= now },
    };
  }
}

export class ListedPartnerDto extends PartnerStateDto {
  @ApiProperty({ description: 'For people', example: 'Acme Ltd' })
  name: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  createdAt: string;

  @ApiProperty({ description: 'Those that open the broker, oldest first', type: [AccountDto] })
  accounts: AccountDto[];

  @ApiProperty({ description: 'The newest; null: never', type: CertificationDto, nullable: true })
  certification: CertificationDto | null;

  static listed(partner: ListedPartner, now: Date): ListedPartnerDto {
    const live = partner.accounts.filter(({ state }) => state !== 'retired');
    return { ...ListedPartnerDto.base(partner, now), accounts: live.map((account) => AccountDto.of(account, now)) };
  }

  protected static base(partner: ListedPartner, now: Date): Omit<ListedPartnerDto, 'accounts'> {
    const { name, createdAt, certification } = partner;
    return {
      ...PartnerStateDto.of(partner),
      ...{ name, createdAt: createdAt.toISOString() },
      certification: certification && CertificationDto.of(certification, now),
    };
  }
}

export class PartnerPageDto {
  @ApiProperty({ type: [ListedPartnerDto] })
  items: ListedPartnerDto[];

  @ApiProperty({ type: String, nullable: true, example: null })
  nextCursor: string | null;
}

export class PartnerChannelDto {
  @ApiProperty({ example: 'orders.acme.request.v1' })
  topic: string;

  @ApiProperty({ enum: ['in', 'out'], description: 'out: we write', example: 'out' })
  direction: 'in' | 'out';

  @ApiProperty({ enum: FORMATS, example: 'avro' })
  format: Format;

  @ApiProperty({ description: "Fixed for the topic's life", example: 6 })
  partitions: number;
}

export class PartnerQuotaDto {
  @ApiProperty({ type: Number, nullable: true, description: 'At each broker; null: no limit', example: 1_048_576 })
  producerBytesPerSecond: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'At each broker; null: no limit', example: 2_097_152 })
  consumerBytesPerSecond: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: "Of one request thread's time; null: no limit",
    example: 50,
  })
  requestPercent: number | null;
}

export class PartnerDto extends ListedPartnerDto {
  @ApiProperty({ type: [PartnerChannelDto] })
  channels: PartnerChannelDto[];

  @ApiProperty({
    description: 'Of each account, as onboarding applied it last; null: the partner was not onboarded with a file',
    type: PartnerQuotaDto,
    nullable: true,
  })
  quotas: PartnerQuotaDto | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the broker last acknowledged a message to it; null: not among the newest',
    example: TIME,
  })
  lastSentAt: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'When a message of it last named a schema, to the minute; null also where its documents are plain JSON',
    example: TIME,
  })
  lastReceivedAt: string | null;

  static shown(partner: ShownPartner, now: Date): PartnerDto {
    const { quota } = partner;
    return {
      ...ListedPartnerDto.base(partner, now),
      accounts: partner.accounts.map((account) => AccountDto.of(account, now)),
      channels: partner.channels.map(({ topic, direction, format, partitions }) => ({
        ...{ topic, direction, format, partitions },
      })),
      quotas: quota && {
        producerBytesPerSecond: quota.producerByteRate ?? null,
        consumerBytesPerSecond: quota.consumerByteRate ?? null,
        requestPercent: quota.requestPercentage ?? null,
      },
      lastSentAt: iso(partner.lastSentAt),
      lastReceivedAt: iso(partner.lastReceivedAt),
    };
  }
}
