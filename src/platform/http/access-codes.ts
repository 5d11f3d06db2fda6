import type { ProblemCode } from './problem-codes';

/** Codes of who may come in, how often, and what is refused before anybody looks at it. */
export const ACCESS_CODES: Readonly<Record<string, ProblemCode>> = {
  unauthenticated: {
    status: 401,
    title: 'Who is calling is not known',
    help: 'Send a valid API key, or an access token of the identity provider that is configured here, in the header "Authorization: Bearer …". A key is shown once, when it is made; one that was lost, has expired or was revoked is replaced: an administrator makes keys with POST /v1/api-keys or "parley key create". A token that has expired is replaced by signing in again.',
  },
  forbidden: {
    status: 403,
    title: 'The caller may not do this',
    help: 'A key and a person have a role (viewer, support, operator or admin, each may what the one before it may) and may be confined to areas of the API. Use a key that may, or ask an administrator for the role. A person has the role that the claim OIDC_ROLE_CLAIM of the access token and OIDC_ROLE_MAP give.',
  },
  'partner-not-allowed': {
    status: 403,
    title: 'The caller is confined to other partners',
    help: 'Use a key that may act with this partner, or ask an administrator for one.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path has no such method',
    help: 'The header Allow lists the methods of the path; the API description at /docs says what each does.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request did not arrive in time',
    help: 'Headers have 10 seconds and the whole request 30. Send it again over a better connection.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    help: 'Wait the seconds in Retry-After, then go on slower. Nothing was changed. The operator: RATE_LIMIT_PER_SECOND, RATE_LIMIT_PER_ADDRESS and LOGIN_FAILURES_PER_MINUTE are the limits; behind a proxy also set HTTP_TRUSTED_PROXIES, or all callers count as one address.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    help: 'Request line and headers together have 16 KiB. An access token that names hundreds of groups is too large: have the identity provider leave out what is not needed.',
  },
  'issuer-unavailable': {
    status: 503,
    title: 'The identity provider cannot be reached',
    help: 'The access token may be good: the keys that would tell are not known here yet, and the identity provider does not give them. Nothing was changed. Send the same request again after the seconds in Retry-After, or use an API key. The operator: check OIDC_ISSUER, OIDC_JWKS_URL and that the identity provider runs and is trusted (NODE_EXTRA_CA_CERTS).',
  },
};
