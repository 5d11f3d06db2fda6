import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const VERSION = Buffer.of(1);
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEALED_BEGINNING_BYTES = VERSION.length + KEY_ID_BYTES;
const TAG_AT = SEALED_BEGINNING_BYTES + NONCE_BYTES;
const TEXT_AT = TAG_AT + TAG_BYTES;

/** Whose secret it is, by which number: a sealed text that was moved to another row does not open there. */
export interface SecretPlace {
  receiver: string;
  number: number;
}

/** In the order of `WEBHOOK_SECRET_KEYS`: the first seals. */
export const sealingKeysOf = (keys: string): Buffer[] =>
  keys === '' ? [] : keys.split(',').map((key) => Buffer.from(key.trim(), 'base64'));

/** How everything begins that was sealed under this key: says which one opens it, and nothing about it. */
export const sealedBeginning = (key: Uint8Array): Buffer =>
  Buffer.concat([
    VERSION,
    createHash('sha256').update('parley webhook key').update(key).digest().subarray(0, KEY_ID_BYTES),
  ]);

const placeOf = ({ receiver, number }: SecretPlace): Buffer => Buffer.from(`webhook_secret/${receiver}/${number}`);

/** AES-256-GCM: version and key, nonce, tag, text. */
export function seal(secret: Uint8Array, key: Uint8Array, place: SecretPlace): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(placeOf(place));
  const text = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([sealedBeginning(key), nonce, cipher.getAuthTag(), text]);
}

/** Undefined: sealed under none of these keys, or for another place, or changed since. */
export function unseal(sealed: Uint8Array, keys: readonly Uint8Array[], place: SecretPlace): Buffer | undefined {
  const key = keys.find((one) => sealedBeginning(one).equals(sealed.subarray(0, SEALED_BEGINNING_BYTES)));
  if (key === undefined || sealed.length < TEXT_AT) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(SEALED_BEGINNING_BYTES, TAG_AT), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(placeOf(place))
    .setAuthTag(sealed.subarray(TAG_AT, TEXT_AT));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(TEXT_AT)), decipher.final()]);
  } catch {
    return undefined;
  }
}
