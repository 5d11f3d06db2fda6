import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../errors';
import { problemOf, verdictOf } from './problem';
import { traceIdOf } from './trace';

/** What Node's parser and timers refuse before there is a request. */
const CODES: Readonly<Record<string, readonly [code: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'The request line and the headers together are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not arrive whole in time.'],
};

/** Answers on the bare connection, and ends it: where a request begins that can't be read, nobody knows where the next one does. */
export function answerWireError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [code, detail] = CODES[error.code ?? ''] ?? ['request-malformed', 'What was sent is not HTTP.'];
  const problem = problemOf(verdictOf(new AppError(code, detail)), '/', traceIdOf({}));
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
