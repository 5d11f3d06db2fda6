export { TriageModule, type TriageParts } from './triage.module';
