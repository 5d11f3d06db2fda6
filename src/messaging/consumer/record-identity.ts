import { hash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { InboundRecord } from '../kafka';
import { isIdText } from './text';

/** A record's place in its topic, which stands for it where `ce_id` can't. */
export function placeOf(record: InboundRecord): string {
  return `${record.topic}/${record.partition}/${record.offset}`;
}

/** A partition's name within this process. */
export const laneOf = ({ topic, partition }: Pick<InboundRecord, 'topic' | 'partition'>): string =>
  `${topic}/${partition}`;

/**
 * Hex of the first 16 bytes of SHA-256 over key and value, both framed so that no pair of them reads like another: tells
 * a repeat from a different document under the same id.
 */
export function contentHash({ key, value }: InboundRecord): string {
  const keyLength = key?.length ?? 0;
  const frame = Buffer.allocUnsafe(5 + keyLength + (value?.length ?? 0));
  frame.writeInt32BE(key ? keyLength : -1, 0);
  frame[4] = value ? 1 : 0;
  key?.copy(frame, 5);
  value?.copy(frame, 5 + keyLength);
  return hash('sha256', frame, 'hex').slice(0, 32);
}

/**
 * The text under which a key is parked: itself where it is one, else its digest, so that any bytes can be held (and no
 * two different keys hold each other).
 */
export function keyTextOf(key: Buffer | null): string | null {
  if (key === null) return null;
  const text = key.toString('utf8');
  return isIdText(text) && isUtf8(key) ? text : `sha256:${hash('sha256', key, 'hex')}`;
}

/**
 * A key within its channel. Only there is an order between messages: one that comes too early must not hold what it waits
 * for, which may come under the same key on another topic.
 */
export interface ChannelKey {
  channelId: number;
  key: string;
}

/** Identity of a key within this process: channel ids are numbers, so the first space ends one. */
export function sequenceOf({ channelId, key }: ChannelKey): string {
  return `${channelId} ${key}`;
}

/** A UUID that is the same for the same parts for ever (version 8 of RFC 9562, from SHA-256). Parts hold no NUL. */
export function nameUuid(parts: readonly string[]): string {
  // Cut from text: set in bytes, version and variant cost more than the hash.
  const digest = hash('sha256', parts.join('\0'));
  const variant = '89ab'.charAt(Number.parseInt(digest.charAt(16), 16) & 3);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
