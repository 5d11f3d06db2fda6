import { ApiProperty } from '@nestjs/swagger';
import {
  ITEM_OUTCOMES,
  type ItemOutcome,
  type Person,
  type Replay,
  REPLAY_STATES,
  type ReplayPlan,
  type ReplayState,
} from './replay';
import { nullableTime, TIME_EXAMPLE, timeOf } from '../words';
import type { ReplayItem, ReplayProgress } from './replay-list';

class PersonDto implements Person {
  @ApiProperty({ example: 'key_7f3a9c' })
  id: string;

  @ApiProperty({ example: 'night shift' })
  name: string;
}

class PartnerCountDto {
  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty({ example: 12 })
  count: number;
}

class SkippedGroupDto {
  @ApiProperty({ description: 'Stable name of the reason', example: 'order-closed' })
  code: string;

  @ApiProperty({ example: 'The order is accepted already; this answer would contradict it.' })
  detail: string;

  @ApiProperty({ example: 3 })
  count: number;

  @ApiProperty({ type: [String], description: 'The first ids', example: ['4711'] })
  samples: string[];
}

class HeldKeyDto {
  @ApiProperty({ example: 'acme' })
  partner: string;

  @ApiProperty({ example: '4500017' })
  key: string;

  @ApiProperty({ example: 2 })
  messages: number;
}

class HeldBehindDto {
  @ApiProperty({ example: 1 })
  keys: number;

  @ApiProperty({ example: 2 })
  messages: number;

  @ApiProperty({ type: [HeldKeyDto] })
  samples: HeldKeyDto[];
}

export class ReplayPlanDto {
  @ApiProperty({ description: 'Messages that would be sent again', example: 12 })
  count: number;

  @ApiProperty({ type: [PartnerCountDto] })
  byPartner: PartnerCountDto[];

  @ApiProperty(nullableTime('First failure of the oldest'))
  oldest: string | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'How long it takes at the pace, seconds; null without one',
    example: 6,
  })
  durationSeconds: number | null;

  @ApiProperty({ type: [SkippedGroupDto], description: 'What would not be sent, and why' })
  skipped: SkippedGroupDto[];

  @ApiProperty({ type: HeldBehindDto, description: 'Later messages of the keys, which follow by themselves' })
  heldBehind: HeldBehindDto;

  @ApiProperty({ description: 'Ids that name no message that you may see', example: 0 })
  unknownIds: number;

  @ApiProperty({ description: 'There are more than one replay holds: these are the oldest', example: false })
  truncated: boolean;

  static of(plan: ReplayPlan, pace: number | null): ReplayPlanDto {
    return { ...plan, durationSeconds: pace === null ? null : Math.ceil(plan.count / pace) };
  }
}

class OutcomesDto {
  @ApiProperty({ description: 'Not sent again yet', example: 5 })
  planned: number;

  @ApiProperty({ description: 'Sent again, and not processed yet', example: 2 })
  waiting: number;

  @ApiProperty({ example: 4 })
  processed: number;

  @ApiProperty({ description: 'Dead letters once more', example: 1 })
  failedAgain: number;

  @ApiProperty({ example: 0 })
  skipped: number;
}

export class ReplayDto {
  @ApiProperty({ format: 'uuid', example: '0d9d5c0e-6f0b-4f6e-9a53-0a4f6a3f7c11' })
  id: string;

  @ApiProperty({ enum: REPLAY_STATES, description: 'done: every message has its end', example: 'running' })
  state: ReplayState;

  @ApiProperty({ description: 'In words', example: '4 processed, 1 failed again, 7 to go' })
  summary: string;

  @ApiProperty({
    type: Object,
    description: 'What was asked for; of named ids how many',
    example: { partner: 'acme', code: 'handler-failed' },
  })
  selection: Record<string, unknown>;

  @ApiProperty({ type: ReplayPlanDto, nullable: true, description: 'As it stood when the set was frozen' })
  plan: ReplayPlanDto | null;

  @ApiProperty({ type: OutcomesDto })
  outcomes: OutcomesDto;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'At most so many a second; null: as fast as it goes',
    example: 50,
  })
  pacePerSecond: number | null;

  @ApiProperty({ description: 'Messages that came to an end in the last minute, a second', example: 0.08 })
  ratePerSecond: number;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Until all are sent again and tried, at the rate of now; null where nobody can say',
    example: 90,
  })
  etaSeconds: number | null;

  @ApiProperty({ type: String, nullable: true, example: 'acme has mended its prices' })
  reason: string | null;

  @ApiProperty({ type: PersonDto })
  plannedBy: PersonDto;

  @ApiProperty({ format: 'date-time', example: TIME_EXAMPLE })
  plannedAt: string;

  @ApiProperty(nullableTime('Until when the plan may be started'))
  expiresAt: string | null;

  @ApiProperty({ type: PersonDto, nullable: true })
  startedBy: PersonDto | null;

  @ApiProperty(nullableTime())
  startedAt: string | null;

  @ApiProperty(nullableTime())
  endedAt: string | null;

  static of(replay: Replay, { outcomes, ratePerSecond }: ReplayProgress): ReplayDto {
    const { 'failed-again': failedAgain, ...others } = outcomes;
    return {
      id: replay.id,
      state: replay.state,
      summary: wordsFor(outcomes),
      selection: replay.selection,
      plan: replay.plan && ReplayPlanDto.of(replay.plan, replay.pace),
      outcomes: { ...others, failedAgain },
      pacePerSecond: replay.pace,
      ratePerSecond: Math.round(ratePerSecond * 100) / 100,
      etaSeconds: etaOf(replay, outcomes, ratePerSecond),
      reason: replay.reason,
      plannedBy: replay.plannedBy,
      plannedAt: replay.plannedAt.toISOString(),
      expiresAt: timeOf(replay.expiresAt),
      startedBy: replay.startedBy,
      startedAt: timeOf(replay.startedAt),
      endedAt: timeOf(replay.endedAt),
    };
  }
}

function wordsFor(outcomes: Record<ItemOutcome, number>): string {
  const words = {
    processed: 'processed',
    'failed-again': 'failed again',
    skipped: 'skipped',
    waiting: 'waiting',
    planned: 'to go',
  };
  const said = Object.entries(words).flatMap(([outcome, word]) => {
    const count = outcomes[outcome as ItemOutcome];
    return count > 0 ? [`${count} ${word}`] : [];
  });
  return said.length > 0 ? said.join(', ') : 'nothing to replay';
}

function etaOf({ state, pace }: Replay, outcomes: Record<ItemOutcome, number>, rate: number): number | null {
  const { planned, waiting } = outcomes;
  if (state !== 'running') return null;
  if (planned + waiting === 0) return 0;
  const speed = pace === null ? rate : Math.min(pace, rate || pace);
  return speed > 0 ? Math.ceil((planned + waiting) / speed) : null;
}

export class ReplayPageDto {
  @ApiProperty({ type: [ReplayDto], description: 'Newest first' })
  items: ReplayDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}

export class ReplayItemDto {
  @ApiProperty({ description: 'Of the dead letter', example: '4711' })
  id: string;

  @ApiProperty({ type: String, nullable: true, example: 'acme' })
  partner: string | null;

  @ApiProperty({ type: String, nullable: true, example: '4500017' })
  key: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'CloudEvents type', example: 'parley.order-response.v1' })
  contract: string | null;

  @ApiProperty({
    enum: ITEM_OUTCOMES,
    description: 'waiting: sent again and not processed yet; it may have failed, and is tried again then',
    example: 'failed-again',
  })
  outcome: ItemOutcome;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Of its last failure, or why it was skipped; held-behind: an earlier message of its key has to be resolved first',
    example: 'handler-failed',
  })
  code: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'The order is locked by another program.' })
  detail: string | null;

  @ApiProperty(nullableTime('When the outcome came'))
  at: string | null;

  @ApiProperty({ type: Number, nullable: true, description: 'While it waits: tries since it was sent', example: 1 })
  attempts: number | null;

  @ApiProperty(nullableTime('While it waits: the next try'))
  nextAttemptAt: string | null;

  static of(item: ReplayItem): ReplayItemDto {
    return { ...item, at: timeOf(item.at), nextAttemptAt: timeOf(item.nextAttemptAt) };
  }
}

export class ReplayItemPageDto {
  @ApiProperty({ type: [ReplayItemDto], description: 'In order of their ids' })
  items: ReplayItemDto[];

  @ApiProperty({ type: String, nullable: true, description: 'null on the last page', example: null })
  nextCursor: string | null;
}
