import { type Authenticator, unauthenticated } from './authenticator';
import type { Principal } from './principal';

/** What an API key of ours begins with, also a damaged one. */
const KEY = 'parley_';
/** Three parts of base64url (RFC 7515, compact form): whatever else is sent is not worth a look. */
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

/** Gives a bearer token to whom its form says it is for: API keys to the ring, JWTs to the identity provider's judge. */
export class BearerAuthenticator implements Authenticator {
  constructor(
    private readonly keys: Authenticator,
    private readonly oidc: Authenticator,
  ) {}

  async authenticate(token: string): Promise<Principal> {
    if (token.startsWith(KEY)) return this.keys.authenticate(token);
    if (JWT.test(token)) return this.oidc.authenticate(token);
    throw unauthenticated('What was sent is neither an API key nor an access token.');
  }
}
