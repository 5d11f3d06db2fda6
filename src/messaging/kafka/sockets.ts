import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';
import { TLS_EXPECTED } from './connection-trouble';

const KEEP_ALIVE_MS = 60_000;

/**
 * kafkajs' own sockets, but for one thing: to a plain client a port with TLS answers by a TLS alert, which kafkajs takes for a
 * length and waits on. Here it is said.
 */
export const createSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  // Read here, at each connection: the options' values come from files that may have changed.
  const options = ssl as ConnectionOptions | undefined;
  const socket = options
    ? connectTls({ ...(isIP(host) ? {} : { servername: host }), ...options, host, port }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  if (!options) socket.once('data', (data) => expectNoTls(data, (error) => socket.destroy(error)));
  return socket;
};

/** RFC 8446, 5.1: type 21 (alert), then the version, 3.0 to 3.4. As the length of an answer that would be 352 MB. */
const ALERT = 0x15;

/** Tells of an error when the first data of a plain connection are TLS. */
export function expectNoTls(data: Buffer | string, tell: (error: Error) => void): void {
  if (typeof data === 'string' || data[0] !== ALERT || data[1] !== 3) return;
  tell(Object.assign(new Error(TLS_EXPECTED.detail), { code: TLS_EXPECTED.code }));
}
