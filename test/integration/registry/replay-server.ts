import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Replayed {
  status?: number;
  headers?: Record<string, string>;
  /** A text as it is; anything else as JSON. */
  body?: unknown;
}

export interface Heard {
  /** `GET /subjects/x/versions`. */
  line: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer, or a misdeed with the response; a promise holds it back. */
export type Answering = (
  heard: Heard,
  response: ServerResponse,
) => Replayed | undefined | Promise<Replayed | undefined>;

/** An HTTP server that says what a test wants it to say, well or badly. */
export interface ReplayServer {
  readonly url: string;
  readonly heard: Heard[];
  answering: Answering;
  stop(): Promise<void>;
}

export async function startReplay(answering: Answering, tls?: { key: string; cert: string }): Promise<ReplayServer> {
  const heard: Heard[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        line: `${request.method} ${request.url}`,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      heard.push(one);
      void answer(one, response);
    });
  };
  async function answer(one: Heard, response: ServerResponse): Promise<void> {
    const reply = await self.answering(one, response);
    if (!reply) return;
    const { status = 200, headers = {}, body = '' } = reply;
    response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const self: ReplayServer = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    heard,
    answering,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

/** A registry of Avro schemas by subject: version n of `ids` has the id at its place. */
export function registryOf(subjects: Readonly<Record<string, readonly number[]>>): Answering {
  return ({ line }) => {
    const [, subject = '', version] = /^GET \/subjects\/([^/]+)\/versions(?:\/(\d+))?\?deleted=true$/.exec(line) ?? [];
    const ids = subjects[decodeURIComponent(subject)];
    if (!ids) return { status: 404, body: { error_code: 40401, message: `Subject '${subject}' not found.` } };
    if (!version) return { body: ids.map((_, index) => index + 1) };
    return { body: { subject, version: Number(version), id: ids[Number(version) - 1], schema: '"string"' } };
  };
}
