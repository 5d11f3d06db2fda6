import type { Acl, Quota } from '../../messaging/kafka';
import type { Account } from './account';

/** What every account of a partner is given: what onboarding applied last says so. */
export interface Grants {
  kind: Account['kind'];
  acls(principal: string): readonly Acl[];
  quota: Quota;
  /** After so many days its credentials should be replaced. */
  credentialDays: number;
}

/** undefined: the partner was not onboarded. */
export type FindGrants = (partner: string) => Promise<Grants | undefined>;
