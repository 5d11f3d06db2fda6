/** A longer pause than a day is no server's to ask for; and the sum of an instant and a number without bound is no date. */
const MOST_MS = 24 * 3_600_000;

/** How long a server asks to be left alone, ms, a day at most; seconds or a date (RFC 9110, 10.2.3). Undefined: it asks for nothing that can be read. */
export function retryAfterMs(header: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(MOST_MS, Math.max(0, ms));
}
