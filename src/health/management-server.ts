import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the management port lets through to the routes below. */
const MANAGEMENT_PATHS = /^\/(livez|readyz|startupz|metrics)(\?|$)/;
/** Routes that exist on the management port, and only there: {@link isForeign} tells the other listener to refuse them. */
const MANAGEMENT_ROUTES = new Set(['/livez', '/readyz', '/startupz', '/metrics']);

const viaManagement = new WeakSet<IncomingMessage>();

/** Is a management route asked for on another port? By the route that was found: a path has many spellings (`/metrics/`, `/%6detrics`). */
export function isForeign(request: IncomingMessage, route: string | undefined): boolean {
  return route !== undefined && MANAGEMENT_ROUTES.has(route) && !viaManagement.has(request);
}

/**
 * A second listener of the same application for probes and metrics, so that they are never exposed with the API and answer
 * before it does. `route` is the application's request handler. Rejects with the system's error when the port is taken.
 */
export async function listenForManagement(
  route: (request: IncomingMessage, response: ServerResponse) => void,
  options: { host: string; port: number },
): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    if (MANAGEMENT_PATHS.test(request.url ?? '')) {
      viaManagement.add(request);
      return route(request, response);
    }
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('Only /livez, /readyz, /startupz and /metrics live here.\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}
