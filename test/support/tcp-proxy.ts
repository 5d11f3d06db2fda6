import { createServer, connect, type Server, type Socket } from 'node:net';

type Direction = 'request' | 'response';

/**
 * A wire between a client and a server that can be made bad. `filter` sees every piece of data and may drop it (return
 * null) or change it: with `response` a server's answers are lost although it did the work.
 */
export interface TcpProxy {
  readonly port: number;
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Connections that came in until now, refused ones included. */
  readonly accepted: number;
  /** Nothing passes, in either direction, and nothing is closed: the network hangs. */
  pause(): void;
  resume(): void;
  /** Closes all connections at once, as a crash does; new ones are taken. */
  cutAll(): void;
  /** Refuse (or take again) new connections by closing them at once. */
  refuse(on: boolean): void;
  /** Every piece of data waits this long before it goes on. 0: no delay. */
  delay(ms: number): void;
  filter(decide: ((data: Buffer, direction: Direction) => Buffer | null) | undefined): void;
  /** Loses what the server answers, or passes it again. */
  dropResponses(on: boolean): void;
  close(): Promise<void>;
}

export interface Target {
  port: number;
  host?: string;
}

export async function startTcpProxy(target: Target): Promise<TcpProxy> {
  const wire = new Wire(target);
  await wire.listen();
  return wire;
}

class Wire implements TcpProxy {
  private readonly server: Server;
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private paused = false;
  accepted = 0;
  private refusing = false;
  private delayMs = 0;
  private decide: ((data: Buffer, direction: Direction) => Buffer | null) | undefined;

  constructor(private readonly target: Target) {
    this.server = createServer({ allowHalfOpen: false }, (client) => this.accept(client));
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.pairs.size;
  }

  pause(): void {
    this.paused = true;
    for (const pair of this.pairs) pair.forEach((socket) => socket.pause());
  }

  resume(): void {
    this.paused = false;
    for (const pair of this.pairs) pair.forEach((socket) => socket.resume());
  }

  cutAll(): void {
    for (const pair of this.pairs) pair.forEach(reset);
  }

  refuse(on: boolean): void {
    this.refusing = on;
  }

  delay(ms: number): void {
    this.delayMs = ms;
  }

  filter(decide: ((data: Buffer, direction: Direction) => Buffer | null) | undefined): void {
    this.decide = decide;
  }

  dropResponses(on: boolean): void {
    this.filter(on ? (data, direction) => (direction === 'response' ? null : data) : undefined);
  }

  close(): Promise<void> {
    this.cutAll();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private accept(client: Socket): void {
    this.accepted++;
    if (this.refusing) {
      reset(client);
      return;
    }
    const server = connect({ host: this.target.host ?? '127.0.0.1', port: this.target.port });
    const pair = [client, server] as const;
    this.pairs.add(pair);
    this.carry(client, server, 'request');
    this.carry(server, client, 'response');
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.pairs.delete(pair);
        pair.forEach((end) => end.destroy());
      });
      if (this.paused) socket.pause();
    }
  }

  private carry(from: Socket, to: Socket, direction: Direction): void {
    from.on('data', (data: Buffer) => {
      const kept = this.decide ? this.decide(data, direction) : data;
      if (!kept) return;
      // Timers of one length fire in the order in which they were set: the stream keeps its order.
      if (this.delayMs > 0) setTimeout(() => to.destroyed || to.write(kept), this.delayMs);
      else if (!to.write(kept)) {
        from.pause();
        to.once('drain', () => this.paused || from.resume());
      }
    });
    from.on('end', () => to.end());
  }
}

/** A socket that is already ending can't be reset: the handle would stay open. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
