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
