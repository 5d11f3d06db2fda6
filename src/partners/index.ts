export { type Certification, keepCertification, newestCertification, standingOf } from './certifications';
export {
  type Applied,
  Onboarder,
  parsePartnerFile,
  type PartnerFile,
  type PartnerSpec,
  type PlanView,
  specOf,
  viewOf,
  withOnboarder,
} from './onboarding';
export { PartitionCheck } from './partition-check';
export { type Partner, PartnerEntity } from './partner.entity';
export { Partners } from './partners';
export { PartnersModule, type PartnersParts } from './partners.module';
export type { PartnerStateDto } from './state/partner-state.dto';
