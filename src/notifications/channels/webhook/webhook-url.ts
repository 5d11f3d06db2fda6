import { isIP } from 'node:net';
import { faultOfOpenTarget, faultOfTarget } from './networks';

const MOST_CHARACTERS = 2048;

/** As it stands between the slashes, without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/**
 * What is wrong with a webhook's URL, in words that complete "The URL …"; undefined: nothing that can be seen. Addresses in all their
 * notations are looked at here; where a *name* leads is looked at whenever a connection is made, since it may change at any time.
 *
 * @param allowed networks that are not public and may be reached all the same
 */
export function faultOfWebhookUrl(url: string, allowed: readonly string[]): string | undefined {
  if (url.length > MOST_CHARACTERS) return `must have at most ${MOST_CHARACTERS} characters`;
  // A URL is read without its line breaks, and with its spaces encoded: what staff see would not be what is asked.
  if (!/^[\x21-\x7e]+$/.test(url) || !URL.canParse(url))
    return 'must be a URL like https://example.com/hooks, in ASCII, without spaces';
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol)) return 'must begin with https://';
  if (parsed.username !== '' || parsed.password !== '')
    return 'must carry no user name and password: a webhook is known by its signature';
  if (url.includes('#')) return 'must have no fragment (#): it is never sent';
  return faultOfHost(parsed, allowed);
}

function faultOfHost(url: URL, allowed: readonly string[]): string | undefined {
  const host = hostOf(url);
  if (isIP(host) !== 0) return faultOfTarget(host, url, allowed);
  if (/(^|\.)localhost\.?$/.test(host)) {
    const faults = ['127.0.0.1', '::1'].map((address) => faultOfTarget(address, url, allowed));
    return faults.includes(undefined) ? undefined : faults[0];
  }
  // A name may lead into an allowed network.
  return allowed.length > 0 ? undefined : faultOfOpenTarget(url);
}
