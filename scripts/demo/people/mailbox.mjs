import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

/** A mail server on this machine that keeps what it gets, in place of the company's. */
export class Mailbox {
  mails = [];
  /** Asked with the first address before it says that it has an e-mail. */
  hold = async () => undefined;
  /** What becomes of the next one: undefined, `refused` (for now), `unanswered` (kept, and the connection ends). */
  fate = () => undefined;

  async start() {
    this.server = new SMTPServer({
      ...{ disabledCommands: ['STARTTLS'], authOptional: true, logger: false },
      onData: (stream, session, done) => void this.take(stream, session).then(() => done(), done),
    });
    this.server.on('error', () => undefined);
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  /** Of a Parley that sends through it. */
  get env() {
    const { port } = this.server.server.address();
    const from = 'Parley <parley@company.example>';
    return { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(port), SMTP_TLS: 'none', EMAIL_FROM: from };
  }

  async take(stream, session) {
    const chunks = await stream.toArray();
    const fate = this.fate();
    if (fate === 'refused') throw Object.assign(new Error('Try again later'), { responseCode: 451 });
    const [{ address }] = session.envelope.rcptTo;
    const mail = { to: address, ...contentOf(Buffer.concat(chunks).toString()) };
    this.mails.push(mail);
    await this.hold(address, mail.id);
    if (fate === 'unanswered') [...this.server.connections].find((one) => one.session === session)?.close();
  }

  async stop() {
    for (const connection of this.server.connections) connection.close();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Message-ID, subject and text of an e-mail as Parley writes one: a text, then HTML. */
function contentOf(raw) {
  const [head, ...parts] = raw.split(/\r\n\r\n/);
  const headers = head.replace(/\r\n[ \t]+/g, ' ');
  const header = (name) => new RegExp(`^${name}: (.*)$`, 'im').exec(headers)?.[1] ?? '';
  const text = parts.join('\n\n').split(/^--.*(?=\r\nContent-Type: text\/html)/im)[0];
  const quoted = /quoted-printable/i.test(parts[0]);
  const messageId = header('Message-ID');
  const lines = (quoted ? unquoted(text.slice(parts[0].length)) : text.slice(parts[0].length)).split(/\r?\n/);
  const [id] = messageId.slice(1).split('@');
  return { id, messageId, subject: header('Subject'), lines: lines.filter(Boolean) };
}

const unquoted = (text) =>
  Buffer.from(
    text.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16))),
    'latin1',
  ).toString();
