import type { Channel } from './notification';

/** E.164: a country code, and at most 15 digits in all. */
const PHONE = /^\+[1-9]\d{6,14}$/;
/**
 * One mailbox, of RFC 5322's dot-atom and letters beyond ASCII (RFC 6531), at a domain of two labels or more. No list, group, name, comment or quoted
 * part; no blank, line end or letter that isn't seen or runs backwards: nothing that a server, a header or a person could read as something else.
 */
const LOCAL_PART = /^(?=.{1,64}$)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const DOMAIN =
  /^([\p{L}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+\p{L}[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}]$/u;
const MOST_CHARACTERS = 254;
const URL_TEXT = /^https?:\/\/[\x21-\x7e]{1,2040}$/;

/** Which rule an address breaks, as a sentence that doesn't quote it; undefined: none. Whether anybody is there is another matter. */
export function addressFault(channel: Channel, address: string): string | undefined {
  if (channel === 'email') return isMailbox(address) ? undefined : 'must be one e-mail address, like ops@example.com';
  if (channel === 'sms') return PHONE.test(address) ? undefined : 'must be a phone number of E.164, like +4930123456';
  return URL_TEXT.test(address) ? undefined : 'must be a URL like https://example.com/hooks';
}

function isMailbox(text: string): boolean {
  const at = text.lastIndexOf('@');
  return (
    at > 0 && text.length <= MOST_CHARACTERS && LOCAL_PART.test(text.slice(0, at)) && DOMAIN.test(text.slice(at + 1))
  );
}
