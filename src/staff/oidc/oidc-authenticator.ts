import { errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../platform/clock';
import { type Authenticator, unauthenticated } from '../authenticator';
import type { Principal } from '../principal';
import { type ClaimRules, type Claims, principalOf } from './claims';

/** Only what a public key verifies: with HMAC among them, that public key would be the secret to forge with. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** How far the issuer's clock and ours may be apart. */
const CLOCK_SKEW_S = 30;
/** RFC 9068, and what issuers give that don't follow it. Others are no access tokens: `logout+jwt`, `dpop+jwt`, … */
const TYPES = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);
/** What only tokens of another purpose carry: ID tokens, logout tokens. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];
/** Keycloak says in the payload what it doesn't say in the header. */
const FOREIGN_TYPES = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

export interface OidcRules extends ClaimRules {
  issuer: string;
  /** What the tokens must be made for. */
  audience: string;
}

/** Access tokens of one issuer (JWT, RFC 9068 and its looser kin), verified here: a request costs no round trip. */
export class OidcAuthenticator implements Authenticator {
  constructor(
    private readonly rules: OidcRules,
    private readonly keys: JWTVerifyGetKey,
    private readonly clock: Clock,
  ) {}

  async authenticate(token: string): Promise<Principal> {
    const claims = await this.verify(token);
    return principalOf(claims, this.rules);
  }

  private async verify(token: string): Promise<Claims> {
    const { issuer, audience } = this.rules;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys, {
        ...{ issuer, audience, algorithms: ALGORITHMS, clockTolerance: CLOCK_SKEW_S },
        requiredClaims: ['exp', 'sub'],
        currentDate: this.clock.now(),
      });
      const foreign = purposeOf(payload, protectedHeader.typ);
      if (foreign !== undefined) throw unauthenticated(foreign);
      // RFC 7519, 4.1.2: a text; jose looks only whether it is there.
      if (typeof payload.sub !== 'string' || payload.sub === '')
        throw unauthenticated('The claim "sub" of the access token is not sound.');
      return payload as Claims;
    } catch (error) {
      // What isn't jose's verdict on the token is not the caller's fault: keys that nobody can read, for one.
      if (!(error instanceof errors.JOSEError)) throw error;
      throw unauthenticated(wordsOf(error));
    }
  }
}

/** Why it is no access token that may be used by whoever bears it; undefined: it is one. */
function purposeOf(payload: JWTPayload, typ: string | undefined): string | undefined {
  const isForeign =
    !TYPES.has(typ?.toLowerCase()) ||
    FOREIGN_TYPES.has(String(payload['typ'])) ||
    FOREIGN_CLAIMS.some((claim) => Object.hasOwn(payload, claim));
  if (isForeign)
    return 'What was sent is a token of another kind: Parley takes access tokens, no ID or refresh tokens.';
  // RFC 9449, RFC 8705: only who has that key may use it, and that can't be checked here.
  if (payload['cnf'] !== undefined)
    return 'The access token is bound to a key of its owner; Parley takes bearer tokens.';
  return undefined;
}

/** Never quotes the token. */
function wordsOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'The access token has expired.';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'The signature of the access token is wrong.';
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'The access token is signed by an algorithm that is not accepted.';
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The access token is signed by a key that the issuer does not publish.';
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'The access token does not say which of the keys of the issuer has signed it ("kid").';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'What was sent is not a sound access token.';
  if (error.claim === 'aud') return 'The access token is not made for Parley: its audience is another.';
  if (error.claim === 'iss') return 'The access token is of another issuer.';
  if (error.claim === 'nbf') return 'The access token is not valid yet.';
  return error.reason === 'missing'
    ? `The access token has no claim "${error.claim}".`
    : `The claim "${error.claim}" of the access token is not sound.`;
}
