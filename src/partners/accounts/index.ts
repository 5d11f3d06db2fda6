export { type Account, type AccountKind, liveOf, type NewAccount, nextAccount, principalOf } from './account';
export { AccountIssuer, type IssuedAccount } from './account-issuer';
export { Accounts } from './accounts';
