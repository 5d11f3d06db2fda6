export { specOfPartner } from './account-rights';
export { type Applied, type ApplyOptions, Onboarder } from './onboarder';
export { parsePartnerFile } from './partner-file';
export type { PartnerPlan } from './partner-plan';
export { PARTNER_FILE_SCHEMA, type PartnerFile, type PartnerSpec, specOf } from './partner-spec';
export { type PlanView, viewOf } from './plan-view';
export { withOnboarder } from './with-onboarder';
export { strimziFor, type StrimziResource, strimziResources } from './strimzi';
