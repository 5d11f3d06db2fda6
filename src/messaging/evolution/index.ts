export { differencesOf, inWords } from './differences';
export { judgeSchemas } from './judge';
export { planOf, publish, type PublishOutcome, type PublishStep } from './publish';
export { type Subject, subjectsAsPlanned, subjectsOf } from './subjects';
export { type Finding, survey } from './survey';
