import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { AppError, messageOf } from '../../platform/errors';
import type { Logger } from '../../platform/telemetry';

/** From this age on the keys are read anew behind the requests, which don't wait. */
const REFRESH_MS = 5 * 60_000;
/** From this age on requests wait for that reading, unless one has just failed: so long a key that the issuer took away may still be believed. */
const FRESH_MS = 10 * 60_000;
/** While the issuer is away, what it said last counts this long. */
const BELIEVED_MS = 24 * 3_600_000;
/** Between two readings: made-up key ids, and an issuer that is away, make us ask this often and no more. */
const PAUSE_MS = 5000;
const ANSWER_MS = 5000;
const MOST_BYTES = 512 * 1024;

export interface IssuerAddress {
  issuer: string;
  /** Empty: the issuer's discovery document says where. */
  jwksUrl: string;
}

/** The public keys of an issuer, read when they are needed; the start of the process doesn't wait for them. */
export class IssuerKeys {
  private keys: JWTVerifyGetKey | undefined;
  private readAt = Number.NEGATIVE_INFINITY;
  private triedAt = Number.NEGATIVE_INFINITY;
  private failure: AppError | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly address: IssuerAddress,
    private readonly log: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The key that a token names by `kid` and `alg`; a key or an address in the token itself is never looked at. Throws
   * jose's JWKSNoMatchingKey when the issuer has no such key, `issuer-unavailable` when nobody can say.
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.current();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // A new key of the issuer's? Within the pause after a reading nobody asks, and the last one counts.
      await this.read();
      return await (this.keys ?? keys)(header, token);
    }
  };

  private async current(): Promise<JWTVerifyGetKey> {
    const age = this.now() - this.readAt;
    // An issuer that hangs takes each reading its whole time: nobody is to wait for what is believed anyway.
    const isAway = this.failure !== undefined && this.now() - this.triedAt < REFRESH_MS;
    if (age >= BELIEVED_MS) await this.read();
    else if (age >= FRESH_MS && !isAway) await this.read().catch(() => undefined);
    else if (age >= REFRESH_MS) void this.read().catch(() => undefined);
    if (this.keys === undefined) throw unavailable('has not told its keys yet');
    return this.keys;
  }

  /** One reading at a time, whoever asks; within the pause the last one's outcome again. */
  private async read(): Promise<void> {
    if (this.reading === undefined && this.now() - this.triedAt >= PAUSE_MS) {
      this.triedAt = this.now();
      this.reading = this.readOnce().finally(() => (this.reading = undefined));
    }
    await this.reading;
    if (this.failure) throw this.failure;
  }

  private async readOnce(): Promise<void> {
    const began = this.now();
    try {
      this.keys = createLocalJWKSet((await jsonAt(await this.place())) as unknown as JSONWebKeySet);
      if (this.failure) this.log.info('the identity provider answers again');
      [this.readAt, this.failure] = [began, undefined];
    } catch (error) {
      const reason = messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
      if (!this.failure)
        this.log.warn(
          { code: 'issuer-unavailable', reason },
          'the keys of the identity provider cannot be read: known ones go on; check OIDC_ISSUER, OIDC_JWKS_URL and that it runs',
        );
      this.failure = unavailable('does not answer as it should', error);
    }
  }

  private async place(): Promise<string> {
    const { issuer, jwksUrl } = this.address;
    if (jwksUrl) return jwksUrl;
    const found = await jsonAt(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    // OpenID Connect Discovery 4.3: or another issuer's keys would count for ours.
    if (found['issuer'] !== issuer) throw new Error('its discovery document names another issuer than OIDC_ISSUER');
    const place = URL.parse(String(found['jwks_uri']));
    if (!place || (place.protocol !== 'https:' && new URL(issuer).protocol === 'https:'))
      throw new Error('its discovery document has no jwks_uri with https');
    return place.href;
  }
}

async function jsonAt(url: string): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (!answer.ok || !answer.body) throw new Error(`it answers HTTP ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error(`its answer is larger than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
  if (typeof value !== 'object' || value === null) throw new Error('its answer is not a JSON object');
  return value as Record<string, unknown>;
}

const unavailable = (why: string, cause?: unknown): AppError =>
  new AppError(
    'issuer-unavailable',
    `Whether the access token is sound cannot be told: the identity provider ${why}.`,
    {
      cause,
    },
  );
