import type { SendOutcome } from './provider';

/** What nodemailer says of an e-mail that it did not send. */
export interface SmtpFailure {
  message: string;
  /** `EENVELOPE`, `EMESSAGE`, `ECONNECTION`, `ETLS` …: nodemailer's, by the step that failed. */
  code?: string | undefined;
  /** Of the system: `ECONNREFUSED`, `CERT_HAS_EXPIRED` …. */
  originalCode?: string | undefined;
  responseCode?: number | undefined;
  response?: string | undefined;
  command?: string | undefined;
}

/** How far the e-mail came. */
export interface SmtpProgress {
  /** All of it was handed to the connection: the dot that ends it may have been read. Before, no server has a whole e-mail to deliver. */
  handedOver: boolean;
  /** Of the notification: the lease was about to end, or the process stops. */
  leaseOver: boolean;
}

/** Whether the server was asked or not, it had no time to say anything. */
export const LEASE_OVER = { kind: 'later', code: 'lease-over', fault: false, ours: true } as const;

const CERTIFICATE = /CERT|SIGNATURE|ISSUER|ALTNAME|SELF_SIGNED/;
/** Said to whoever sends, whatever he sends: we are the ones to mend something. */
const OF_THE_ACCOUNT = new Set([500, 501, 502, 503, 504, 530, 534, 535, 538]);

/** What an error of nodemailer says about an e-mail. Pure. */
export function smtpOutcome(failure: SmtpFailure, { handedOver, leaseOver }: SmtpProgress): SendOutcome {
  const { code, responseCode, message } = failure;
  if (handedOver) return afterTheDot(failure);
  if (code === 'EABORT') {
    const detail = 'The time for it was over before the mail server had all of it.';
    return leaseOver ? { ...LEASE_OVER, detail } : fault('smtp-timeout', detail);
  }
  if (isTls(failure))
    return fault('smtp-tls', `${message} Check SMTP_TLS, SMTP_CA_FILE and the mail server's certificate.`);
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return fault('smtp-auth', `${message} Check SMTP_USERNAME and SMTP_PASSWORD.`);
  if (responseCode === undefined || code === 'ECONNECTION' || code === 'EPROTOCOL') return ofNoReply(failure);
  return ofReply(failure, responseCode);
}

/** Only the server's answer to the dot says what became of it. */
function afterTheDot(failure: SmtpFailure): SendOutcome {
  const { code, responseCode, message } = failure;
  if (code === 'EMESSAGE' && responseCode !== undefined && responseCode >= 400) return ofReply(failure, responseCode);
  return {
    kind: 'unknown',
    code: 'smtp-no-answer',
    detail: `The mail server had all of it, and did not answer: ${message}`,
  };
}

function ofNoReply({ code, message }: SmtpFailure): SendOutcome {
  if (code === 'EENVELOPE') return { kind: 'refused', code: 'address-malformed', detail: message, badAddress: true };
  return fault('smtp-unreachable', message);
}

function ofReply({ command, response = '', message }: SmtpFailure, status: number): SendOutcome {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/.exec(response)?.[1] ?? '';
  // 421: it closes; about the e-mail it says nothing.
  if (status === 421) return fault('smtp-unavailable', message);
  // Greylisting, a full mailbox, too many at once: about this one, and over by itself.
  if (status < 500) return { kind: 'later', code: 'smtp-deferred', detail: message, fault: false };
  if (OF_THE_ACCOUNT.has(status) && !enhanced.startsWith('5.1.'))
    return fault('smtp-not-accepted', `${message} Check SMTP_USERNAME, SMTP_PASSWORD and what the account may send.`);
  const isSize = status === 552 || enhanced === '5.3.4';
  if (command === 'MAIL FROM' && !isSize) return fault('smtp-sender-refused', `${message} Check EMAIL_FROM.`);
  return isBadAddress(command, status, enhanced, response)
    ? { kind: 'refused', code: 'smtp-recipient-refused', detail: message, badAddress: true }
    : { kind: 'refused', code: 'smtp-refused', detail: message };
}

/** RFC 3463: 5.1.x is about the address (5.1.7 and 5.1.8: about the sender's), 5.2.1 a mailbox that is closed. Old servers have the reply's code alone. */
function isBadAddress(command: string | undefined, status: number, enhanced: string, response: string): boolean {
  if (enhanced !== '') return /^5\.(1\.(?!7$|8$)|2\.1$)/.test(enhanced);
  const isPolicy = /relay|spam|policy|block|black|reputation|denied|auth|quota|full/i.test(response);
  return command === 'RCPT TO' && [550, 551, 553].includes(status) && !isPolicy;
}

const isTls = ({ code, originalCode = '', message }: SmtpFailure): boolean =>
  code === 'ETLS' ||
  code === 'EREQUIRETLS' ||
  CERTIFICATE.test(originalCode) ||
  /STARTTLS/.test(message) ||
  originalCode.startsWith('ERR_SSL') ||
  originalCode === 'EPROTO';

const fault = (code: string, detail: string): SendOutcome => ({ kind: 'later', code, detail, fault: true });
