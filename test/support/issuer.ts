import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export const AUDIENCE = 'parley-api';
export const ROLE_MAP = 'parley-viewers=viewer,parley-desk=support,parley-ops=operator,parley-admins=admin';

/** What a process needs in its environment to take this issuer's tokens. */
export const oidcEnv = (issuer: string, change: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  OIDC_ISSUER: issuer,
  OIDC_AUDIENCE: AUDIENCE,
  OIDC_ROLE_CLAIM: 'realm_access.roles',
  OIDC_ROLE_MAP: ROLE_MAP,
  ...change,
});

let drawn = 0;
export async function signingKey(alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const kid = `key-${++drawn}`;
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An issuer that publishes which keys it is told to, and signs whatever a test wants signed. */
export class TestIssuer {
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** What is published. */
  keys: SigningKey[] = [];
  /** Everybody gets this status, if set. */
  failing: number | undefined;
  /** Takes what is asked and answers nothing. */
  hanging = false;
  /** How often somebody gave up waiting meanwhile. */
  givenUp = 0;
  /** What the discovery document calls it, if not by its name. */
  calledOtherwise: string | undefined;

  private constructor(
    readonly url: string,
    private readonly server: ReturnType<typeof createServer>,
  ) {}

  static async start(): Promise<TestIssuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = new TestIssuer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
    issuer.keys = [await signingKey()];
    server.on('request', (request, response) => {
      issuer.asked.push(request.url ?? '');
      if (issuer.hanging) return void response.on('close', () => issuer.givenUp++);
      const body = issuer.answerTo(request.url ?? '');
      response.writeHead(issuer.failing ?? (body ? 200 : 404), { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    });
    return issuer;
  }

  private answerTo(path: string): object | undefined {
    if (path === '/jwks') return { keys: this.keys.map(({ publicJwk }) => publicJwk) };
    if (path !== '/.well-known/openid-configuration') return undefined;
    return { issuer: this.calledOtherwise ?? this.url, jwks_uri: `${this.url}/jwks` };
  }

  /** A sound access token, but for what is changed: `undefined` takes a claim away. */
  async token(
    claims: Record<string, unknown> = {},
    { key = this.keys[0], header = {} }: { key?: SigningKey | undefined; header?: Record<string, unknown> } = {},
  ): Promise<string> {
    if (!key) throw new Error('the issuer has no key');
    const now = Math.floor(Date.now() / 1000);
    const all = {
      ...{ iss: this.url, aud: AUDIENCE, sub: 'u-1', iat: now, exp: now + 300, preferred_username: 'kate' },
      realm_access: { roles: ['parley-admins'] },
      ...claims,
    };
    return new SignJWT(all)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
      .sign(key.privateKey);
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
