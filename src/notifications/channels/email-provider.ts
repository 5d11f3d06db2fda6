import { createTransport } from 'nodemailer';
import { messageOf } from '../../platform/errors';
import { mailboxOf, withoutAddress } from './addresses';
import { LEASE_OVER, smtpOutcome, type SmtpFailure } from './email-outcome';
import type { Letter, Provider, SendOutcome } from './provider';

/** Who e-mails come from. */
export interface Sender {
  name: string;
  address: string;
}

export interface SmtpSettings {
  host: string;
  port: number;
  tls: 'starttls' | 'implicit' | 'none';
  /** PEM; undefined: the public authorities. Read for each new set of connections. */
  ca: () => string | undefined;
  /** Empty: no account. */
  username: string;
  /** Asked for at each e-mail: it may rotate. */
  password: () => string;
  from: Sender;
  perSecond: number;
  timeoutMs: number;
  /** Most at once. */
  connections: number;
}

const CONNECT_MS = 10_000;
const IDLE_MS = 60_000;

/** Connections that were made with one password. */
interface Connections {
  password: string;
  mailer: Mailer;
}
type Mailer = ReturnType<typeof mailerFor>;

/**
 * Sends e-mails over SMTP. A mail server knows no key of ours: a Message-ID that it has seen before it delivers again, and it can't be
 * asked. So what is in doubt stays so, and the kind decides.
 */
export class EmailProvider implements Provider {
  readonly channel = 'email';
  readonly remembersMs = 0;
  readonly timeoutMs: number;
  readonly perSecond: number;
  private connections: Connections | undefined;
  private closed = false;
  /** E-mails whose last byte before the dot was handed to the connection, by the signal that they were sent with. */
  private readonly handedOver = new WeakSet<AbortSignal>();

  constructor(private readonly settings: SmtpSettings) {
    [this.timeoutMs, this.perSecond] = [settings.timeoutMs, settings.perSecond];
  }

  async send(letter: Letter, leaseSignal: AbortSignal): Promise<SendOutcome> {
    const to = mailboxOf(letter.address);
    if (to === undefined)
      return { kind: 'refused', code: 'address-malformed', detail: 'It is not one e-mail address.', badAddress: true };
    if (letter.content.channel !== 'email')
      return { kind: 'refused', code: 'content-mismatch', detail: 'Its content is not that of an e-mail.' };
    if (this.closed || leaseSignal.aborted)
      return { ...LEASE_OVER, detail: 'The time for it was over before it began.' };
    const signal = AbortSignal.any([leaseSignal, AbortSignal.timeout(this.timeoutMs)]);
    try {
      const { response } = await this.mailer().sendMail(this.messageOf(letter, to, signal));
      if (this.handedOver.has(signal)) return { kind: 'accepted', detail: withoutAddress(response, letter.address) };
      const detail = 'The mail server answered before it had all of it.';
      return { kind: 'unknown', code: 'smtp-no-answer', detail };
    } catch (error) {
      const progress = { handedOver: this.handedOver.has(signal), leaseOver: leaseSignal.aborted };
      const outcome = smtpOutcome(failureOf(error), progress);
      // A mended certificate or authority counts with the next attempt.
      if ('code' in outcome && outcome.code === 'smtp-tls') this.dropConnections();
      return 'detail' in outcome && outcome.detail !== undefined
        ? { ...outcome, detail: withoutAddress(outcome.detail, letter.address) }
        : outcome;
    }
  }

  close(): Promise<void> {
    this.closed = true;
    this.dropConnections(true);
    return Promise.resolve();
  }

  private messageOf({ id, content }: Letter, to: string, signal: AbortSignal) {
    const { from } = this.settings;
    const parts = content.channel === 'email' ? content : undefined;
    return {
      from,
      // Both: what stands in the header, and whom the server is told; neither is parsed, and more than one is an error.
      to: { name: '', address: to },
      envelope: { from: from.address, to: [to] },
      maxRecipients: 1,
      messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      subject: parts?.subject ?? '',
      text: parts?.text ?? '',
      html: parts?.html ?? '',
      ...{ disableFileAccess: true, disableUrlAccess: true },
      signal,
    };
  }

  private mailer(): Mailer {
    const password = this.settings.password();
    if (this.connections?.password !== password) {
      this.dropConnections();
      this.connections = {
        password,
        mailer: mailerFor(this.settings, password, (signal) => this.handedOver.add(signal)),
      };
    }
    return this.connections.mailer;
  }

  /** Those that are sending finish, unless `force`. */
  private dropConnections(force = false): void {
    this.connections?.mailer.close({ force });
    this.connections = undefined;
  }
}

function mailerFor(settings: SmtpSettings, pass: string, onHandedOver: (signal: AbortSignal) => void) {
  const { host, port, tls, username: user, timeoutMs, connections } = settings;
  const ca = settings.ca();
  const connectMs = Math.min(CONNECT_MS, timeoutMs);
  const mailer = createTransport({
    pool: true,
    ...{ host, port, secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
    tls: { minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
    ...(user === '' ? {} : { auth: { user, pass }, forceAuth: true }),
    ...{ maxConnections: connections, idleTimeout: IDLE_MS },
    // A connection that the server had closed is replaced once, as long as not a byte of the e-mail was read; nodemailer sees to that.
    maxRequeues: 1,
    ...{ connectionTimeout: connectMs, greetingTimeout: connectMs, dnsTimeout: connectMs, socketTimeout: timeoutMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  mailer.use('stream', (mail, done) => {
    const { signal } = mail.data;
    // Ahead of the pipe that ends the e-mail with a dot, since it is attached before.
    if (signal) mail.message.processFunc((input) => input.once('end', () => onHandedOver(signal)));
    done();
  });
  return mailer;
}

/** By its members: what the system threw is of no class of ours. */
function failureOf(error: unknown): SmtpFailure {
  const isFailure = typeof error === 'object' && error !== null && 'message' in error;
  return isFailure ? (error as SmtpFailure) : { message: messageOf(error) };
}
