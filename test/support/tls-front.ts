import { connect } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';

/** A server's TLS with a certificate of the test's choice, in front of its plain port. */
export interface TlsFront {
  /** `localhost:port` */
  readonly address: string;
  close(): Promise<void>;
}

export async function startTlsFront(target: { port: number }, certificate: TlsOptions): Promise<TlsFront> {
  const server = createServer(certificate, (client) => {
    const behind = connect({ host: '127.0.0.1', port: target.port });
    client.pipe(behind).pipe(client);
    for (const [end, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      end.on('error', () => other.destroy());
      end.on('close', () => other.destroy());
    }
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    address: `localhost:${typeof address === 'object' && address ? address.port : 0}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
