import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  /** Of the envelope. */
  from: string;
  to: string[];
  /** As it came: headers and body. */
  raw: string;
  /** Whether it came over TLS. */
  secure: boolean;
  /** Who signed in; undefined: nobody had to. */
  user: string | undefined;
}

export interface MailServerOptions {
  /** PEM. Absent: in clear, without STARTTLS. */
  tls?: { cert: string; key: string };
  /** TLS from the first byte. */
  implicit?: boolean;
  /** Asked for at each login; absent: nobody signs in. */
  login?: (username: string, password: string) => boolean;
}

/** A mail server that keeps what it gets. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  connections = 0;
  /** Before it answers that it has an e-mail. */
  hold: (raw: string) => Promise<void> = () => Promise.resolve();
  private constructor(private readonly server: SMTPServer) {}

  static async start({ tls, implicit = false, login }: MailServerOptions = {}): Promise<MailServer> {
    const server: SMTPServer = new SMTPServer({
      ...(tls ? { ...tls, secure: implicit } : { disabledCommands: ['STARTTLS'] }),
      ...(login ? {} : { authOptional: true }),
      logger: false,
      // It would wait for name servers that a test has not.
      disableReverseLookup: true,
      onConnect: (_session, done) => {
        mailServer.connections++;
        done();
      },
      onAuth: ({ username, password }, _session, done) =>
        username && login?.(username, password ?? '')
          ? done(null, { user: username })
          : done(new Error('Invalid login')),
      onData: (stream, { envelope, secure, ...session }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          mailServer.mails.push({
            from: envelope.mailFrom ? envelope.mailFrom.address : '',
            to: envelope.rcptTo.map(({ address }) => address),
            raw: Buffer.concat(chunks).toString(),
            secure,
            user: typeof session.user === 'string' ? session.user : undefined,
          });
          void mailServer.hold(mailServer.mails.at(-1)?.raw ?? '').then(() => done());
        });
      },
    });
    server.on('error', () => undefined);
    const mailServer = new MailServer(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return mailServer;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  /** Environment of a process that sends through it, in clear. */
  get env(): NodeJS.ProcessEnv {
    return {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(this.port),
      SMTP_TLS: 'none',
      EMAIL_FROM: 'Parley <orders@parley.example>',
    };
  }

  /** How often an e-mail of this notification came. */
  sentTimes(id: string): number {
    return this.mails.filter(({ raw }) => raw.includes(`Message-ID: <${id}@`)).length;
  }

  stop(): Promise<void> {
    for (const connection of this.server.connections) connection.close();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
