import { outcomeOfAnswer, outcomeOfFailure } from '../../../../src/notifications/channels/webhook/outcome';
import { TargetForbidden } from '../../../../src/notifications/channels/webhook/post';

const NOW = new Date('2026-11-30T09:15:00.000Z');
const answer = (status: number, headers: Record<string, string> = {}) => outcomeOfAnswer({ status, headers }, NOW);

describe("what a receiver's answer means", () => {
  it.each([200, 201, 202, 204, 299])('%d: it has it', (status) =>
    expect(answer(status)).toEqual({ kind: 'accepted', detail: `It answered ${status}.` }),
  );

  it.each([300, 301, 302, 303, 304, 307, 308])('%d: a redirect, which is not followed', (status) =>
    expect(answer(status, { location: 'http://169.254.169.254/' })).toMatchObject({
      ...{ kind: 'later', fault: true, code: 'webhook-redirects' },
      detail: expect.not.stringContaining('169') as string,
    }),
  );

  it.each([400, 401, 403, 404, 405, 422, 500, 501, 503, 505, 599])('%d: tried again', (status) =>
    expect(answer(status)).toEqual({
      ...{ kind: 'later', fault: true, code: 'webhook-refuses' },
      detail: `It answered ${status}.`,
    }),
  );

  it.each([502, 504, 520, 524])('%d: only the server behind the gateway knows', (status) =>
    expect(answer(status, { 'retry-after': '120' })).toMatchObject({ kind: 'unknown', code: 'webhook-gateway' }),
  );

  it('410: nothing more is wanted there', () => {
    expect(answer(410)).toMatchObject({ kind: 'later', fault: true, code: 'webhook-gone' });
  });

  it('waits as long as 429 and 503 ask for, a day at most', () => {
    for (const status of [429, 503]) {
      expect(answer(status, { 'retry-after': '120' })).toMatchObject({ retryAfterMs: 120_000 });
      const at = 'Mon, 30 Nov 2026 09:16:00 GMT';
      expect(answer(status, { 'retry-after': at })).toMatchObject({ retryAfterMs: 60_000 });
      expect(answer(status, { 'retry-after': '99999999999' })).toMatchObject({ retryAfterMs: 86_400_000 });
      expect(answer(status, { 'retry-after': 'Mon, 30 Nov 1999 09:16:00 GMT' })).toMatchObject({ retryAfterMs: 0 });
      expect(answer(status, { 'retry-after': 'soon' })).not.toHaveProperty('retryAfterMs');
    }
    expect(answer(404, { 'retry-after': '120' })).not.toHaveProperty('retryAfterMs');
  });
});

describe('what it means that no answer came', () => {
  const failure = (code: string, more: { written?: boolean; late?: boolean; leaseEnds?: boolean } = {}) =>
    outcomeOfFailure({
      ...{ written: false, late: false, leaseEnds: false },
      error: Object.assign(new Error('connect ECONNREFUSED 203.0.113.7:443'), { code }),
      ...more,
    });

  it.each([
    ['ECONNREFUSED', 'webhook-unreachable'],
    ['UND_ERR_CONNECT_TIMEOUT', 'webhook-unreachable'],
    ['ENOTFOUND', 'webhook-name-unknown'],
    ['ETIMEOUT', 'webhook-name-unknown'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'webhook-tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'webhook-tls'],
    ['CERT_HAS_EXPIRED', 'webhook-tls'],
    ['', 'webhook-unreachable'],
  ])('%s before a byte was written: certainly not done', (code, slug) => {
    expect(failure(code)).toMatchObject({ kind: 'later', fault: true, code: slug });
  });

  it('is unknown once the request went out, whatever broke then', () => {
    expect(failure('ECONNRESET', { written: true })).toMatchObject({ kind: 'unknown', code: 'webhook-broke' });
    expect(failure('', { written: true, late: true })).toMatchObject({ kind: 'unknown', code: 'webhook-silent' });
    expect(failure('', { written: true, leaseEnds: true })).toMatchObject({ kind: 'unknown', code: 'webhook-silent' });
  });

  it("is nobody's fault where our own time was over first", () => {
    expect(failure('', { leaseEnds: true })).toMatchObject({
      kind: 'later',
      fault: false,
      ours: true,
      code: 'webhook-given-up',
    });
    expect(failure('', { late: true })).toMatchObject({ kind: 'later', fault: true, code: 'webhook-unreachable' });
  });

  it('never says where the webhook leads', () => {
    for (const written of [true, false]) {
      const { detail } = failure('ECONNREFUSED', { written });
      expect(detail).toContain('(ECONNREFUSED)');
      expect(detail).not.toContain('203.0.113.7');
    }
    const forbidden = { written: false, late: false, leaseEnds: false, error: new TargetForbidden('must be public') };
    expect(outcomeOfFailure(forbidden)).toMatchObject({
      code: 'webhook-forbidden',
      detail: 'The webhook must be public.',
    });
  });
});
