import { domainToASCII } from 'node:url';

const MAX_EMAIL = 254;
const MAX_LOCAL_PART = 64;
/** RFC 5322's dot-atom, and letters beyond ASCII (RFC 6531). Quoted local parts, groups and comments are no addresses to us. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+(\.[\w!#$%&'*+/=?^`{|}~\u0080-\uffff-]+)*$/;
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/i;
/** Line ends and blanks that Unicode has beyond ASCII, and what makes text run backwards. */
const TREACHEROUS = /[\s\u0080-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/;

/** One mailbox as a server is told it (its domain in ASCII), or undefined: the text is no address, or could be read as more than one. */
export function mailboxOf(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), domainToASCII(text.slice(at + 1))];
  const sound =
    !TREACHEROUS.test(text) && local.length <= MAX_LOCAL_PART && LOCAL_PART.test(local) && DOMAIN.test(domain);
  const mailbox = `${local}@${domain}`;
  return sound && mailbox.length <= MAX_EMAIL ? mailbox : undefined;
}

/** A telephone number in digits as E.164 has it, without the plus; undefined: it is none. */
export function phoneNumberOf(text: string): string | undefined {
  const [, digits = ''] = /^\+([\d ().\-/]{7,30})$/.exec(text) ?? [];
  const number = digits.replaceAll(/\D/g, '');
  return /^[1-9]\d{6,14}$/.test(number) ? number : undefined;
}

const MAX_DETAIL = 500;

/** What a provider said, without what is personal in it: no mailbox, no number, nothing of this address. One line of 500 characters at most. */
export function withoutAddress(said: string, address: string): string {
  const parts = [address, mailboxOf(address), address.split('@')[0], phoneNumberOf(address)];
  let text = said;
  for (const part of parts.filter((one): one is string => one !== undefined && one.length > 2))
    text = text.replaceAll(new RegExp(part.replaceAll(/[^\w]/gu, String.raw`\$&`), 'gi'), '[address]');
  text = text
    .replaceAll(/[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g, '[address]')
    .replaceAll(/\+?\d(?:[ ().\-/]?\d){6,}/g, '[number]')
    // eslint-disable-next-line no-control-regex -- that is what is to go
    .replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text;
}
