import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import type { Logger } from '../../platform/telemetry';
import { IssuerKeys } from './issuer-keys';
import { OidcAuthenticator } from './oidc-authenticator';

export type OidcSettings = Pick<
  Config,
  | 'oidcIssuer'
  | 'oidcAudience'
  | 'oidcJwksUrl'
  | 'oidcRoleClaim'
  | 'oidcRoleMap'
  | 'oidcNameClaim'
  | 'oidcAreasClaim'
  | 'oidcPartnersClaim'
>;

/** Undefined where no issuer is configured: then API keys are the only way in. */
export function createOidc(config: OidcSettings, clock: Clock, log: Logger): OidcAuthenticator | undefined {
  const { oidcIssuer: issuer, oidcAudience: audience } = config;
  if (!issuer) return undefined;
  const keys = new IssuerKeys({ issuer, jwksUrl: config.oidcJwksUrl }, log);
  const rules = {
    ...{ issuer, audience, role: config.oidcRoleClaim, roles: config.oidcRoleMap, name: config.oidcNameClaim },
    ...{ areas: config.oidcAreasClaim, partners: config.oidcPartnersClaim },
  };
  return new OidcAuthenticator(rules, keys.find, clock);
}
