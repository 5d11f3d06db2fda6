import { NonRetriableError } from '../platform/errors';
import type { Principal } from './principal';

/** Tells who a bearer token belongs to. */
export interface Authenticator {
  /**
   * Throws NonRetriableError `unauthenticated`, and `forbidden` for a sound token that gives no role; what an unreachable database or identity
   * provider throws means that nobody knows.
   */
  authenticate(token: string): Promise<Principal>;
}

/** Token of the {@link Authenticator} that the guard asks. */
export const AUTHENTICATOR = Symbol('Authenticator');

const NEXT =
  'Send a valid API key, or an access token where an identity provider is configured, in the header "Authorization: Bearer …"; an administrator makes a key with "parley key create".';

/** Never quotes what was sent: it may be a secret of somebody's. */
export const unauthenticated = (what: string): NonRetriableError =>
  new NonRetriableError('unauthenticated', what, { hint: NEXT });
