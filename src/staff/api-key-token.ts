import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix is for secret scanners, the id is public, then 256 bits of secret and a checksum over all before it. */
const TOKEN = /^(parley_(key_[0-9a-f]{12})_[0-9a-f]{64})([0-9a-f]{8})$/;

/** What is kept of a token: enough to know it again, not to make it. */
export interface TokenPrint {
  id: string;
  hash: Buffer;
}

/** A token that nobody has had before. It is shown to its owner once. */
export function newToken(): TokenPrint & { token: string } {
  const id = `key_${randomBytes(6).toString('hex')}`;
  const text = `parley_${id}_${randomBytes(32).toString('hex')}`;
  const token = text + checksumOf(text);
  return { id, token, hash: hashOf(token) };
}

/** `mistyped`: it has our form, and a sign of it is wrong. undefined: it is none of ours. */
export function readToken(token: string): TokenPrint | 'mistyped' | undefined {
  const [, text, id, checksum] = TOKEN.exec(token) ?? [];
  if (text === undefined || id === undefined) return undefined;
  return checksum === checksumOf(text) ? { id, hash: hashOf(token) } : 'mistyped';
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0');

/** One plain SHA-256: a slow hash with salt protects what people think up; nobody tries out 256 random bits, and each request pays. */
const hashOf = (token: string): Buffer => hash('sha256', token, 'buffer');
