import { retryAfterMs } from '../../../platform/polling';
import type { HttpExchange } from '../http-exchange';
import type { SendOutcome } from '../provider';
import { TargetForbidden } from './post';

/** The receiver wants nothing more: 410 (RFC 9110, 15.5.11). */
export const GONE_CODE = 'webhook-gone';

const fault = (code: string, detail: string, more: { retryAfterMs?: number } = {}): SendOutcome => ({
  kind: 'later',
  fault: true,
  code,
  detail,
  ...more,
});

/** Said by a server between, which handed the request on and heard nothing, or nothing that it could read (RFC 9110, 15.6.3 and 15.6.5; Cloudflare's 520 and 524). */
const OF_A_GATEWAY = [502, 504, 520, 524];

/**
 * What an answer means (Standard Webhooks, "Deliverability and Reliability"): 2xx is success, everything else a failure that is tried
 * again, since what is wrong with an endpoint today may be mended tomorrow. By it a receiver says that it does not have the message;
 * a gateway does not know that. Nothing of an answer is kept but its status: a receiver may repeat what we sent it.
 */
export function outcomeOfAnswer(
  { status, headers }: Pick<HttpExchange & { kind: 'answered' }, 'status' | 'headers'>,
  now: Date,
): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted', detail: `It answered ${status}.` };
  if (status >= 300 && status < 400)
    return fault(
      'webhook-redirects',
      `It answered ${status}, a redirect, which is not followed: give the URL that it leads to.`,
    );
  if (status === 410) return fault(GONE_CODE, 'It answered 410: nothing more is wanted there.');
  if (OF_A_GATEWAY.includes(status))
    return {
      kind: 'unknown',
      code: 'webhook-gateway',
      detail: `It answered ${status}: a gateway does not know what the server behind it did.`,
    };
  const asked = status === 429 || status === 503 ? retryAfterMs(headers['retry-after'], now.getTime()) : undefined;
  return fault('webhook-refuses', `It answered ${status}.`, asked === undefined ? {} : { retryAfterMs: asked });
}

const NAME_CODE =
  /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EAI_\w+|EBADNAME|EBADRESP|EBADFAMILY|EFORMERR|ENOTIMP)$/;
const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|INVALID_|EPROTO$)/;

/** Why there was no answer. `late`: our own time for one attempt was over; `leaseEnds`: the sender's was. */
export interface Failure {
  written: boolean;
  error: Error;
  late: boolean;
  leaseEnds: boolean;
}

/** Says nothing of where the webhook leads: an address is personal data, and errors of sockets name it. */
export function outcomeOfFailure({ written, error, late, leaseEnds }: Failure): SendOutcome {
  const code = codeOf(error);
  const named = code === '' ? '' : ` (${code})`;
  if (written)
    return late || leaseEnds
      ? { kind: 'unknown', code: 'webhook-silent', detail: 'The request went out, and no answer came in time.' }
      : {
          kind: 'unknown',
          code: 'webhook-broke',
          detail: `The request went out, and no answer could be read${named}.`,
        };
  if (error instanceof TargetForbidden) return fault('webhook-forbidden', `The webhook ${error.message}.`);
  if (late || code === 'UND_ERR_CONNECT_TIMEOUT')
    return fault('webhook-unreachable', 'No connection was made in time.');
  if (leaseEnds)
    return {
      ...{ kind: 'later', fault: false, ours: true },
      ...{ code: 'webhook-given-up', detail: 'There was no time left to connect.' },
    };
  if (NAME_CODE.test(code)) return fault('webhook-name-unknown', `Its name leads to no address${named}.`);
  if (TLS_CODE.test(code))
    return fault(
      'webhook-tls',
      `No safe connection was made${named}: its certificate or its TLS is not as it must be.`,
    );
  return fault('webhook-unreachable', `No connection was made${named}.`);
}

/** A slug of the platform; never the message, which names hosts and addresses. */
function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : '';
}
