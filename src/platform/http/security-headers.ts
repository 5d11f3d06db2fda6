import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** What a browser may do with an answer of the API: nothing. Pages of our own state their policy (docs.ts). */
const NOTHING = { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } };

/**
 * Helmet's headers, made once: they are the same for every answer, and its plugins make them anew for each request.
 * @see https://helmetjs.github.io
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = headersOf(
  helmet({ contentSecurityPolicy: NOTHING, frameguard: { action: 'deny' } }),
);

function headersOf(middleware: ReturnType<typeof helmet>): Record<string, string> {
  const headers: Record<string, string> = {};
  const recorder = {
    setHeader: (name: string, value: string) => void (headers[name.toLowerCase()] = value),
    removeHeader: () => undefined,
  };
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error) throw error as Error;
  });
  return headers;
}
