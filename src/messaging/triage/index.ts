export { TriageModule, type TriageParts } from './triage.module';
export {
  type AdvisedBatch,
  type AdvisedMessage,
  type Objection,
  type ReplayAdvice,
  ReplayAdviceModule,
  ReplayAdvisors,
} from './replays/replay-advice';
export { ReplayOutcomes } from './replays/replay-outcomes';
export { type OpenDeadLetters, openDeadLetters } from './open-dead-letters';
// As the REST API shows them.
export type { ChannelDto } from './channel.dto';
export type { DeadLetterDto } from './dead-letter.dto';
export type { FailureGroupDto } from './failure-group.dto';
export type { DeadLetterViewDto } from './letter-view.dto';
export type { ParkedDto, RetriedDto } from './parked.dto';
export type { ReplayDto, ReplayItemDto } from './replays/replay.dto';
