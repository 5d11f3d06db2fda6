import { createSocket, type Socket } from 'node:dgram';

/** A name server over UDP that gives the IPv4 addresses it is told to, or is silent. */
export class NameServer {
  /** Names that were asked for, one entry a question for an IPv4 address. */
  readonly asked: string[] = [];
  /** Addresses of a name, the n-th time it is asked for; undefined: no answer at all. */
  answer: (name: string, time: number) => readonly string[] | undefined = () => [];

  private constructor(
    readonly address: string,
    private readonly socket: Socket,
  ) {}

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const server = new NameServer(`127.0.0.1:${socket.address().port}`, socket);
    socket.on('message', (question, from) => {
      const reply = server.replyTo(question);
      if (reply) socket.send(reply, from.port, from.address);
    });
    return server;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.socket.close(() => resolve()));
  }

  /** RFC 1035, 4.1: the question as it came, with answers that point at its name. */
  private replyTo(question: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let at = 12;
    for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const asksForIpv4 = question.readUInt16BE(at + 1) === 1;
    const name = labels.join('.').toLowerCase();
    if (asksForIpv4) this.asked.push(name);
    const addresses = this.answer(name, this.asked.filter((one) => one === name).length);
    if (addresses === undefined) return undefined;
    const answers = (asksForIpv4 ? addresses : []).map((address) => {
      const head = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
      return Buffer.concat([head, Buffer.from(address.split('.').map(Number))]);
    });
    const reply = Buffer.concat([question.subarray(0, at + 5), ...answers]);
    // An answer, recursion was available; one question, so many answers, nothing else.
    reply.writeUInt16BE(0x8180, 2);
    [1, answers.length, 0, 0].forEach((count, n) => reply.writeUInt16BE(count, 4 + 2 * n));
    return reply;
  }
}
