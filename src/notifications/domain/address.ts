import type { Channel } from './notification';

/** E.164: a country code, and at most 15 digits in all. */
const PHONE = /^\+[1-9]\d{6,14}$/;
/** One mailbox: no list, no name, no comment, nothing that ends a header. Quoted local parts are none that people have. */
const EMAIL =
  /^[^\s\p{Cc}\p{Cf}\p{Cs}<>()[\]\\,;:"@]{1,64}@(?=.{1,253}$)([\p{L}\p{N}]([\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,63}$/u;

/** Which rule an address breaks, as a sentence that doesn't quote it; undefined: none. Whether anybody is there is another matter. */
export function addressFault(channel: Channel, address: string): string | undefined {
  if (channel === 'email') return EMAIL.test(address) ? undefined : 'must be one e-mail address, like ops@example.com';
  if (channel === 'sms') return PHONE.test(address) ? undefined : 'must be a number of E.164, like +4930123456';
  return undefined;
}
