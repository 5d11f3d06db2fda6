import { createHmac } from 'node:crypto';

/** Headers that make a receiver sure of who sent what, and when (Standard Webhooks 1.0). */
export interface SignedHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/**
 * Signs what is sent: `id.timestamp.body`, HMAC-SHA256, once under each secret, so that a receiver who knows one of them takes it.
 *
 * @param id of the notification: the same in every attempt, for receivers to know a repeat by
 * @param at of this attempt: receivers refuse what is older than some minutes
 * @param secrets the newest first
 */
export function signedHeaders(id: string, at: Date, body: Uint8Array, secrets: readonly Uint8Array[]): SignedHeaders {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
