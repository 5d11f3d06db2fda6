import type { FastifyReply } from 'fastify';
import { NonRetriableError } from '../errors';

/** An opaque cursor of the sort key of a page's last item. */
export const encodeCursor = (key: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url');

/** The parts of a cursor, each as its pattern wants it. Throws `cursor-invalid`. */
export function decodeCursor(cursor: string, shape: readonly RegExp[]): string[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parsed) && parsed.length === shape.length) {
      const parts = parsed.map(String);
      if (shape.every((pattern, n) => pattern.test(parts[n] ?? ''))) return parts;
    }
  } catch {
    // Falls through: not ours.
  }
  throw new NonRetriableError('cursor-invalid', 'The cursor is not one that was given.', {
    violations: [{ pointer: 'cursor', detail: 'must be a cursor as it was given' }],
  });
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** A page of what was found when one more than `limit` was asked for. */
export function pageOf<T>(found: readonly T[], limit: number, key: (last: T) => readonly (string | number)[]): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: found.length > limit && last !== undefined ? encodeCursor(key(last)) : null };
}

/** `Link: <…>; rel="next"` (RFC 8288) where there is a next page of this query. */
export function linkNext(
  reply: FastifyReply,
  path: string,
  query: object & { limit: number },
  nextCursor: string | null,
): void {
  if (nextCursor === null) return;
  const given = Object.entries(query).flatMap(([name, value]) =>
    name === 'cursor' || value === undefined || value === null ? [] : [[name, String(value)]],
  );
  void reply.header(
    'link',
    `<${path}?${new URLSearchParams([...given, ['cursor', nextCursor]]).toString()}>; rel="next"`,
  );
}
