import type { Channel } from './notification';

/** E.164: a country code, and at most 15 digits in all. */
const PHONE = /^\+[1-9]\d{6,14}$/;
/** One mailbox: no list, no name, no comment, nothing that ends a header. Quoted local parts are none that people have. */
const EMAIL =
  /^[^\s\p{Cc}\p{Cf}\p{Cs}<>()[\]\\,;:"@]{1,64}@(?=.{1,253}$)[\p{L}\p{N}]([\p{L}\p{N}-]{0,62})(\.[\p{L}\p{N}][\p{L}\p{N}-]{0,62})*$/u;
const URL_TEXT = /^https?:\/\/[\x21-\x7e]{1,2040}$/;

/** Which rule an address breaks, as a sentence that doesn't quote it; undefined: none. Whether anybody is there is another matter. */
export function addressFault(channel: Channel, address: string): string | undefined {
  if (channel === 'email') return EMAIL.test(address) ? undefined : 'must be one e-mail address, like ops@example.com';
  if (channel === 'sms') return PHONE.test(address) ? undefined : 'must be a phone number of E.164, like +4930123456';
  return URL_TEXT.test(address) ? undefined : 'must be a URL like https://example.com/hooks';
}
