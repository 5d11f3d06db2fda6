export { type Certification, keepCertification } from './certifications';
export {
  type Account,
  Accounts,
  type AccountTools,
  type IssuedAccount,
  OLD_VALID_FOR_MS,
  type RetirementPass,
  type RotationPlan,
  withAccounts,
} from './accounts';
export {
  type Applied,
  Onboarder,
  parsePartnerFile,
  type PartnerFile,
  type PartnerSpec,
  type PlanView,
  specOf,
  specOfPartner,
  strimziFor,
  viewOf,
  withOnboarder,
} from './onboarding';
export { MissingRights } from './missing-rights';
export { PartitionCheck } from './partition-check';
export { type Partner, PartnerEntity } from './partner.entity';
export { Partners } from './partners';
export { PartnersModule, type PartnersParts } from './partners.module';
// As the REST API shows them.
export type { AccountDto } from './accounts/account.dto';
export type { ListedPartnerDto, PartnerDto } from './directory/partner.dto';
export type { PartnerStateDto } from './state/partner-state.dto';
