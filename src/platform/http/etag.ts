import { NonRetriableError } from '../errors';

/** The strong tag of a thing's version (RFC 9110, 8.8.3). */
export const etagOf = (version: number): string => `"${version}"`;

/** `If-None-Match`: has the caller this already? A list of tags, compared weakly, or `*` (RFC 9110, 13.1.2). */
export const matchesEtag = (known: string, etag: string): boolean =>
  known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);

/**
 * `If-Match`: the version that the caller has seen and means to change. Throws `precondition-missing` without one (who changes something
 * must have looked at it, so `*` doesn't count), `version-stale` for what was never a tag of ours.
 */
export function seenVersion(ifMatch: string | undefined): number {
  if (ifMatch === undefined || ifMatch.trim() === '*') {
    throw new NonRetriableError('precondition-missing', 'The header If-Match is missing or names no version.', {
      violations: [{ pointer: 'If-Match', detail: 'must be the ETag of what you looked at' }],
    });
  }
  const [, digits] = /^\s*"(\d{1,9})"\s*$/.exec(ifMatch) ?? [];
  if (digits === undefined) throw versionStale();
  return Number(digits);
}

/** What a change of something that was changed meanwhile is answered with. */
export const versionStale = (): NonRetriableError =>
  new NonRetriableError('version-stale', 'It was changed since you looked at it, and this request changed nothing.');
