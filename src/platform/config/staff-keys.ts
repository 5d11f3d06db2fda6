import { type Key, text } from './parsers';
import { claimPath, issuerUrl, roleMap } from './oidc-parsers';

/** Keys of how staff sign in besides by API key: access tokens of an identity provider. */
export const STAFF_KEYS = {
  oidcIssuer: {
    env: 'OIDC_ISSUER',
    parse: issuerUrl,
    fallback: '',
    unit: 'URL',
    doc: 'Identity provider (OpenID Connect) whose access tokens are taken beside API keys, exactly as its tokens name it ("iss"). Empty: none. The start does not wait for it; while it is away, known keys of it go on for a day. An authority of your own: NODE_EXTRA_CA_CERTS.',
  },
  oidcAudience: {
    env: 'OIDC_AUDIENCE',
    parse: text(255),
    fallback: '',
    unit: 'name',
    doc: 'What the tokens must be made for ("aud"), so that those of other applications open nothing here. Required with OIDC_ISSUER.',
  },
  oidcJwksUrl: {
    env: 'OIDC_JWKS_URL',
    parse: issuerUrl,
    fallback: '',
    unit: 'URL',
    doc: "Where the issuer's public keys are. Empty: its discovery document (/.well-known/openid-configuration) says where.",
  },
  oidcRoleClaim: {
    env: 'OIDC_ROLE_CLAIM',
    parse: claimPath,
    fallback: 'roles',
    unit: 'claim',
    doc: 'Claim that names the roles: a path like realm_access.roles, or a JSON array of names where they contain dots: ["https://example.com/roles"].',
  },
  oidcRoleMap: {
    env: 'OIDC_ROLE_MAP',
    parse: roleMap,
    fallback: '',
    unit: 'name=role list',
    doc: 'What the issuer calls the roles, separated by commas: parley-admins=admin,parley-desk=support. Roles here are viewer, support, operator, admin; of several the highest counts. Required with OIDC_ISSUER: names of roles are never taken as they are, for other applications have an "admin", too.',
  },
  oidcNameClaim: {
    env: 'OIDC_NAME_CLAIM',
    parse: claimPath,
    fallback: 'preferred_username',
    unit: 'claim',
    doc: 'Claim by which the audit calls somebody; where a token has none, its subject.',
  },
  oidcAreasClaim: {
    env: 'OIDC_AREAS_CLAIM',
    parse: claimPath,
    fallback: '',
    unit: 'claim',
    doc: 'Claim that lists the areas of the API to which somebody is confined, or "*". Empty: nobody is confined. Where it is set, a token without it may nothing.',
  },
  oidcPartnersClaim: {
    env: 'OIDC_PARTNERS_CLAIM',
    parse: claimPath,
    fallback: '',
    unit: 'claim',
    doc: 'The same for partners: ids of those whose data somebody may see and touch, or "*".',
  },
} satisfies Record<string, Key<unknown>>;
