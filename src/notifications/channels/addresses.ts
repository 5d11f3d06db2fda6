import { domainToASCII } from 'node:url';
import { addressFault } from '../domain/address';

/** One mailbox as a server is told it (its domain in ASCII), or undefined: the text is no address, or could be read as more than one. */
export function mailboxOf(text: string): string | undefined {
  if (addressFault('email', text)) return undefined;
  const at = text.lastIndexOf('@');
  const domain = domainToASCII(text.slice(at + 1));
  return domain === '' ? undefined : `${text.slice(0, at)}@${domain}`;
}

/** A telephone number in digits as E.164 has it, without the plus; undefined: it is none. */
export const phoneNumberOf = (text: string): string | undefined =>
  addressFault('sms', text) ? undefined : text.slice(1);

const MAX_DETAIL = 500;
/** Of what was said, so much is looked at: looking for addresses takes time by the square of a word's length, and a server may say a megabyte. */
const MAX_SAID = 2000;
/** As it is, and as a link has it. */
const MAILBOX = /[^\s<>"'(),:;]+(?:@|%40)[^\s<>"'(),:;]+/gi;
/** Behind a reply's code with its status (`550 5.7.26`, RFC 3463): that is no number of anybody's, and says what is wrong. */
const NUMBER = /(\b[245]\d\d[ -][245]\.\d{1,3}\.\d{1,3}\b)|\+?\d(?:[ ().\-/]?\d){6,}/g;

/** What a provider said, without what is personal in it: no mailbox, no number, nothing of this address. One line of 500 characters at most. */
export function withoutAddress(said: string, address: string): string {
  const parts = [address, mailboxOf(address), address.split('@')[0], phoneNumberOf(address)];
  // Half of a word may be half of an address.
  let text = said.length > MAX_SAID ? said.slice(0, MAX_SAID).replace(/\S+$/, '') : said;
  for (const part of parts.filter((one): one is string => one !== undefined && one.length > 2))
    text = text.replaceAll(new RegExp(part.replaceAll(/[^\w]/gu, String.raw`\$&`), 'gi'), '[address]');
  text = text
    .replaceAll(MAILBOX, '[address]')
    .replaceAll(NUMBER, (_, status?: string) => status ?? '[number]')
    // eslint-disable-next-line no-control-regex -- that is what is to go
    .replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}
