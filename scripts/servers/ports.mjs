import { createServer } from 'node:net';
import { ServerError } from './server-error.mjs';

const handedOut = new Set();

function canListen(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A free port below the range from which systems take the ports of outgoing connections: a server that is killed must
 * find its port again when it comes back, and such a connection could hold it meanwhile.
 */
export async function freePort() {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = 12_000 + Math.floor(Math.random() * 19_000);
    if (handedOut.has(port) || !(await canListen(port))) continue;
    handedOut.add(port);
    return port;
  }
  throw new ServerError('No free port found.', '200 random ports from 12000 to 31000 are taken.', 'End some servers.');
}

/** The wanted port, or a free one when none is wanted. Throws when the wanted one is taken. */
export async function claimPort(wanted, server, option) {
  if (!wanted) return freePort();
  if (await canListen(wanted)) return wanted;
  throw new ServerError(
    `${server} can't start: port ${wanted} is taken.`,
    `Another process listens on 127.0.0.1:${wanted}.`,
    `End that process, or choose another port${option ? ` with ${option}` : ''}.`,
  );
}
