export { type Account, type AccountKind, liveOf, type NewAccount, nextAccount, principalOf } from './account';
export { AccountIssuer, type IssuedAccount, replaced } from './account-issuer';
export { Accounts } from './accounts';
export { Disabling } from './disabling';
export { Retirement, type RetirementPass } from './retirement';
export { OLD_VALID_FOR_MS, Rotation, type RotationPlan, type RotationRequest, type Tell } from './rotation';
export { type AccountTools, withAccounts } from './with-accounts';
