import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, Client } from 'undici';
import { exchange, type HttpExchange, type HttpRequest } from '../http-exchange';
import { faultOfTarget } from './networks';
import type { Resolve } from './resolve';

/** Where a name or an address leads is not where requests may go. The message completes "The webhook …". */
export class TargetForbidden extends Error {
  override readonly name = 'TargetForbidden';
}

/** How requests find their way. */
export interface Route {
  resolve: Resolve;
  /** Networks that are not public and may be reached all the same. */
  allowed: readonly string[];
  timeoutMs: number;
}

const MOST_HEADER_BYTES = 16 * 1024;
/** Nothing of it is kept; it is read, so that a receiver that ends its answer properly is not cut off. */
const MOST_ANSWER_BYTES = 4096;

/**
 * One request over a connection of its own, made for it and closed behind it: the address is looked at when the connection is made, nothing
 * of an answer can reach another request, and no connection breaks for its age. No redirect is followed, no proxy of the environment
 * used, nothing unpacked. Resolves whatever happens.
 */
export async function post(
  { url, headers, body }: Required<Pick<HttpRequest, 'url' | 'headers' | 'body'>>,
  route: Route,
  signal: AbortSignal,
): Promise<HttpExchange> {
  const client = new Client(url.origin, {
    connect: checkedConnector(url, route, signal),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MOST_HEADER_BYTES,
    // The signal ends everything in time.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    return await exchange(client, { method: 'POST', url, headers, body, mostAnswerBytes: MOST_ANSWER_BYTES }, signal);
  } finally {
    void client.destroy().catch(() => undefined);
  }
}

/** Connects to what may be reached, or fails. */
function checkedConnector(url: URL, route: Route, signal: AbortSignal): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: route.timeoutMs,
    maxCachedSessions: 0,
    // Said, so that NODE_TLS_REJECT_UNAUTHORIZED changes nothing.
    rejectUnauthorized: true,
    autoSelectFamily: true,
    // Closed also while TLS is being agreed on: undici would leave it to the time limit.
    signal,
    lookup: checkedLookup(url, route, signal),
  });
  return (options, callback) => {
    // What is an address already is looked up by nobody.
    const fault = isIP(options.hostname) === 0 ? undefined : faultOfTarget(options.hostname, url, route.allowed);
    if (fault === undefined) connect(options, callback);
    else queueMicrotask(() => callback(new TargetForbidden(fault), null));
  };
}

/** Looks at the very addresses that the connection is then made to: a name server that answers otherwise the next time gains nothing. */
function checkedLookup(url: URL, { resolve, allowed }: Route, signal: AbortSignal): LookupFunction {
  return (name, options, callback) => {
    const refuse = (error: Error) => callback(error, '');
    resolve(name, signal).then(
      (addresses) => {
        const faults = addresses.map((address) => faultOfTarget(address, url, allowed));
        // One that is forbidden among others that are not is an attack or a mistake.
        const fault = faults.find((one) => one !== undefined);
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (signal.aborted) refuse(new Error('given up'));
        else if (fault !== undefined) refuse(new TargetForbidden(fault));
        else if (options.all) callback(null, found);
        else callback(null, found[0]?.address ?? '', found[0]?.family);
      },
      (error: unknown) => refuse(error instanceof Error ? error : new Error(String(error))),
    );
  };
}
