import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Takes connections and says nothing. */
export class SilentServer {
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server) {}

  static async start(): Promise<SilentServer> {
    const server = createServer();
    const silent = new SilentServer(server);
    server.on('connection', (socket) => {
      silent.connections++;
      silent.sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => silent.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return silent;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
