import { jwtVerify } from 'jose';
import { createLogger } from '../../../src/platform/telemetry';
import { IssuerKeys } from '../../../src/staff/oidc/issuer-keys';
import { eventually } from '../../support/eventually';
import { type SigningKey, signingKey, TestIssuer } from '../../support/issuer';

const MINUTE = 60_000;

describe('the keys of an issuer', () => {
  let issuer: TestIssuer;
  let keys: IssuerKeys;
  let now: number;

  beforeEach(async () => {
    issuer = await TestIssuer.start();
    now = 1_000_000;
    keys = new IssuerKeys({ issuer: issuer.url, jwksUrl: '' }, createLogger('silent', 'test'), () => now);
  });
  afterEach(() => issuer.stop());

  const verdict = async (key: SigningKey | undefined) => {
    const token = await issuer.token({}, { key });
    return jwtVerify(token, keys.find).then(
      () => 'sound',
      (error: unknown) => (error as { code: string }).code,
    );
  };

  it('are read once, and anew behind the requests after five minutes', async () => {
    const [key] = issuer.keys;
    for (let round = 0; round < 5; round++) expect(await verdict(key)).toBe('sound');
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
    now += 6 * MINUTE;
    expect(await verdict(key)).toBe('sound');
    await eventually(() => issuer.asked.length === 4);
  });

  it('end for a key that the issuer took away, after ten minutes at the latest', async () => {
    const [key] = issuer.keys;
    expect(await verdict(key)).toBe('sound');
    issuer.keys = [await signingKey()];
    now += 11 * MINUTE;
    expect(await verdict(key)).toBe('ERR_JWKS_NO_MATCHING_KEY');
  });

  it('go on for a day while the issuer is away, and not for ever', async () => {
    const [key] = issuer.keys;
    expect(await verdict(key)).toBe('sound');
    issuer.failing = 500;
    for (const minutes of [11, 60, 20 * 60]) {
      now += minutes * MINUTE;
      expect(await verdict(key)).toBe('sound');
    }
    now += 4 * 60 * MINUTE;
    expect(await verdict(key)).toBe('issuer-unavailable');
    issuer.failing = undefined;
    now += MINUTE;
    expect(await verdict(key)).toBe('sound');
  });

  it('go on at once while the issuer takes connections and answers nothing, and are read when it does', async () => {
    const [key] = issuer.keys;
    expect(await verdict(key)).toBe('sound');
    const before = issuer.asked.length;
    issuer.hanging = true;
    now += 11 * MINUTE;
    // Somebody has to find out.
    expect(await verdict(key)).toBe('sound');
    await eventually(() => issuer.givenUp === 1);
    now += 10_000;
    expect(await verdict(key)).toBe('sound');
    // It was told before the next reading had an end.
    expect(issuer.givenUp).toBe(1);
    await eventually(() => issuer.asked.length === before + 2);
    issuer.hanging = false;
    issuer.keys = [await signingKey()];
    await eventually(
      async () => {
        now += 10_000;
        return (await verdict(issuer.keys[0])) === 'sound';
      },
      { timeout: 40_000 },
    );
    expect(await verdict(key)).toBe('ERR_JWKS_NO_MATCHING_KEY');
  });

  it('are asked for once, however many come at once and however often it fails', async () => {
    issuer.failing = 503;
    const [key] = issuer.keys;
    for (let round = 0; round < 3; round++)
      expect(new Set(await Promise.all(Array.from({ length: 50 }, () => verdict(key))))).toEqual(
        new Set(['issuer-unavailable']),
      );
    expect(issuer.asked).toHaveLength(1);
  });

  it('are taken from where the configuration says, without discovery', async () => {
    const [key] = issuer.keys;
    keys = new IssuerKeys(
      { issuer: 'https://named.example', jwksUrl: `${issuer.url}/jwks` },
      createLogger('silent', 'test'),
    );
    expect(await verdict(key)).toBe('sound');
    expect(issuer.asked).toEqual(['/jwks']);
  });
});
