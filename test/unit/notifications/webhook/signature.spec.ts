import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../../../../src/notifications/channels/webhook/signature';

const ID = '0193a7f0-7c5e-5a0e-9b5c-1f0b6f1d2c3a';
const secretText = (secret: Buffer) => `whsec_${secret.toString('base64')}`;

describe('the signature of a webhook', () => {
  it('is what the reference implementation verifies, whatever is said', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.uint8Array({ minLength: 24, maxLength: 64 }), (text, secret) => {
        const body = JSON.stringify({ text });
        const headers = signedHeaders(ID, new Date(), Buffer.from(body), [secret]);
        expect(new Webhook(secretText(Buffer.from(secret))).verify(body, { ...headers })).toEqual({ text });
      }),
    );
  });

  it('is what the reference implementation makes', () => {
    const secret = randomBytes(32);
    const at = new Date('2026-11-30T09:15:00.999Z');
    expect(signedHeaders(ID, at, Buffer.from('{"a":1}'), [secret])).toEqual({
      'webhook-id': ID,
      'webhook-timestamp': '1796030100',
      'webhook-signature': new Webhook(secretText(secret)).sign(ID, at, '{"a":1}'),
    });
  });

  it('stands once for each secret, the newest first, so that each of them verifies', () => {
    const [newest, older] = [randomBytes(32), randomBytes(32)];
    const headers = signedHeaders(ID, new Date(), Buffer.from('{}'), [newest, older]);
    const [first] = headers['webhook-signature'].split(' ');
    expect(first).toBe(new Webhook(secretText(newest)).sign(ID, new Date(), '{}'));
    for (const secret of [newest, older])
      expect(new Webhook(secretText(secret)).verify('{}', { ...headers })).toEqual({});
    expect(() => new Webhook(secretText(randomBytes(32))).verify('{}', { ...headers })).toThrow(
      'No matching signature',
    );
  });

  it('covers id, time and body', () => {
    const secret = randomBytes(32);
    const oracle = new Webhook(secretText(secret));
    const headers = signedHeaders(ID, new Date(), Buffer.from('{"a":1}'), [secret]);
    expect(() => oracle.verify('{"a":2}', { ...headers })).toThrow('No matching signature');
    expect(() => oracle.verify('{"a":1}', { ...headers, 'webhook-id': 'other' })).toThrow('No matching signature');
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => oracle.verify('{"a":1}', { ...headers, 'webhook-timestamp': later })).toThrow('No matching signature');
  });

  it('is worth nothing some minutes later', () => {
    const secret = randomBytes(32);
    const old = signedHeaders(ID, new Date(Date.now() - 6 * 60_000), Buffer.from('{}'), [secret]);
    expect(() => new Webhook(secretText(secret)).verify('{}', { ...old })).toThrow('too old');
  });
});
