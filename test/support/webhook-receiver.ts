import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Somebody who receives webhooks, and answers as a test wants. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Default: 204. */
  answer: (response: ServerResponse, received: Received) => void = (response) => response.writeHead(204).end();
  connections = 0;

  private constructor(
    readonly url: string,
    private readonly server: Server & { closeAllConnections(): void },
  ) {}

  /** @param tls certificate and key; absent: in clear */
  static async start({
    host = '127.0.0.1',
    tls,
  }: { host?: string; tls?: { cert: string; key: string } } = {}): Promise<WebhookReceiver> {
    const listener: RequestListener = (request, response) => void receiver.take(request, response);
    const server = tls ? createTlsServer(tls, listener) : createServer(listener);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
    const { port } = server.address() as AddressInfo;
    const receiver = new WebhookReceiver(
      `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      server,
    );
    server.on('connection', () => receiver.connections++);
    return receiver;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Does what came last verify under this secret, by the reference implementation? */
  verifies(secret: string): boolean {
    const last = this.received.at(-1);
    if (!last) return false;
    try {
      new Webhook(secret).verify(last.body, last.headers);
      return true;
    } catch {
      return false;
    }
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const received = { path: request.url ?? '', headers, body: Buffer.concat(chunks).toString('utf8') };
    this.received.push(received);
    this.answer(response, received);
  }
}

/** A server that speaks no HTTP of its own: a test writes its bytes. */
export class RawServer {
  connections = 0;
  /** Bytes that came. */
  received = '';
  /** Connections that are open. */
  readonly sockets = new Set<Socket>();

  private constructor(
    readonly url: string,
    private readonly server: Server,
  ) {}

  /** @param speak called with a connection when a request, or a part of it, has come */
  static async start(speak: (socket: Socket) => void, host = '127.0.0.1'): Promise<RawServer> {
    const server = createTcpServer((socket) => {
      raw.connections++;
      raw.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => raw.sockets.delete(socket));
      socket.on('data', (bytes) => (raw.received += bytes.toString('latin1')));
      socket.once('data', () => speak(socket));
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
    const raw = new RawServer(`http://${host}:${(server.address() as AddressInfo).port}`, server);
    return raw;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
