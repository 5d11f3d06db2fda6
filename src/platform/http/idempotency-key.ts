import { NonRetriableError } from '../errors';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** `Idempotency-Key`, which the caller makes for one request and all its repeats. Throws `idempotency-key-missing`. */
export function idempotencyKeyOf(header: string | undefined): string {
  if (header !== undefined && KEY.test(header)) return header;
  const detail = 'must be 1 to 255 visible ASCII characters';
  throw new NonRetriableError('idempotency-key-missing', `The header Idempotency-Key ${detail}.`, {
    violations: [{ pointer: 'Idempotency-Key', detail }],
  });
}
