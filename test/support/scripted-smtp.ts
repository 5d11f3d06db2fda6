import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Where a conversation can be disturbed. `body`: the first bytes of an e-mail have come; `dot`: all of it has. */
export type SmtpStage = 'connect' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'body' | 'dot' | 'RSET';
/** Another reply, the end of the connection, or none at all. */
export type SmtpAct = { reply: string } | 'break' | 'hang';

const USUAL: Partial<Record<SmtpStage, string>> = {
  connect: '220 scripted.example ESMTP',
  EHLO: '250-scripted.example\r\n250 8BITMIME',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  dot: '250 2.0.0 queued',
  RSET: '250 ok',
};
const DOT = '\r\n.\r\n';

/** A mail server in clear that says and does what a test wants, when it wants it. */
export class ScriptedSmtp {
  /** E-mails that came to their end, whatever was answered. */
  readonly mails: string[] = [];
  /** All that was said to it, e-mails left out. */
  readonly commands: string[] = [];
  connections = 0;
  /** For every conversation from now on. */
  script: Partial<Record<SmtpStage, SmtpAct>> = {};
  private readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedSmtp> {
    const server = createServer();
    const scripted = new ScriptedSmtp(server);
    server.on('connection', (socket) => scripted.talk(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Conversations under way. */
  get open(): number {
    return this.sockets.size;
  }

  /** As a server does that has waited long enough. */
  dropAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  stop(): Promise<void> {
    this.dropAll();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private talk(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let [pending, isMail] = ['', false];
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('latin1');
      for (;;) {
        if (isMail && this.disturbs(socket, 'body')) return;
        const end = pending.indexOf(isMail ? DOT : '\r\n');
        if (end < 0) return;
        const said = pending.slice(0, end);
        pending = pending.slice(end + (isMail ? DOT : '\r\n').length);
        if (isMail) {
          isMail = false;
          this.mails.push(said);
          this.act(socket, 'dot');
        } else {
          isMail = this.answer(socket, said);
        }
      }
    });
    this.act(socket, 'connect');
  }

  /** True: an e-mail follows. */
  private answer(socket: Socket, said: string): boolean {
    this.commands.push(said);
    const verb = said.split(/[ :]/)[0]?.toUpperCase();
    if (verb === 'QUIT') {
      socket.end('221 bye\r\n');
      return false;
    }
    const stage = verb as SmtpStage;
    this.act(socket, stage);
    const act = this.script[stage];
    return stage === 'DATA' && (act === undefined || (typeof act === 'object' && act.reply.startsWith('354')));
  }

  private act(socket: Socket, stage: SmtpStage): void {
    if (!this.disturbs(socket, stage)) socket.write(`${USUAL[stage] ?? '502 not here'}\r\n`);
  }

  private disturbs(socket: Socket, stage: SmtpStage): boolean {
    const act = this.script[stage];
    if (act === undefined) return false;
    if (act === 'break') socket.destroy();
    else if (act !== 'hang') socket.write(`${act.reply}\r\n`);
    return true;
  }
}
