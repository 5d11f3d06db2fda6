import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, throwError } from 'rxjs';
import { type AppError, messageOf, NonRetriableError } from '../errors';
import { LineLimit, type Logger } from '../telemetry';
import type { AllowedMethods } from './allowed-methods';
import { problemOf, verdictOf } from './problem';
import { requestIdOf } from './trace';

/** Lines a minute and code while something is away: strangers can ask, too, and nobody can tell that they are. */
const OUTAGE_LINES = 20;

/**
 * Answers every failed HTTP request as problem+json. It is global, and a hybrid application hands global filters to its
 * message handlers too: there it rethrows, for the consumer must see the error itself.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  /** By code, of which there are as many as are written down. */
  private readonly outages = new Map<string, LineLimit>();

  constructor(
    private readonly logger: Logger,
    private readonly allowed?: AllowedMethods,
  ) {}

  catch(error: unknown, host: ArgumentsHost): Observable<never> | void {
    if (host.getType() !== 'http') return throwError(() => error);
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const methods = this.methodsInstead(request);
    const verdict = verdictOf(methods.length > 0 ? methodNotAllowed(request.method) : error);
    this.record(error, verdict.code, verdict.status, request);
    if (reply.sent) return;
    if (verdict.status === 401) void reply.header('www-authenticate', challengeTo(request));
    if (verdict.status === 405) void reply.header('allow', methods.join(', '));
    if (verdict.retryAfter !== undefined) void reply.header('retry-after', String(verdict.retryAfter));
    const instance = request.url.split('?', 1)[0] ?? '/';
    void reply
      .status(verdict.status)
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(JSON.stringify(problemOf(verdict, instance, request.id)));
  }

  /** Which methods the path has in place of the one that was asked for; empty where an operation was found, or none is there. */
  private methodsInstead({ url, method, routeOptions }: FastifyRequest): string[] {
    if (routeOptions.url !== undefined) return [];
    const methods = this.allowed?.at(url.split('?', 1)[0] ?? '/') ?? [];
    return methods.includes(method) ? [] : methods;
  }

  private record(error: unknown, code: string, status: number, request: FastifyRequest): void {
    // Strangers don't fill the log: the guard writes what it refuses, bounded.
    if (status === 401 || status === 429) return;
    const fields = {
      code,
      status,
      trace: request.id,
      request_id: requestIdOf(request.headers, request.id),
      method: request.method,
      route: request.routeOptions.url,
    };
    // Where no operation is, nobody was asked for a key either.
    if (request.routeOptions.url === undefined) this.logger.debug(fields, 'request refused');
    else if (status < 500) this.logger.info(fields, 'request refused');
    else {
      const omitted = status === 503 ? this.outageLine(code) : {};
      if (omitted)
        this.logger.error(
          {
            ...fields,
            ...omitted,
            cause: messageOf(error),
            stack: status === 500 && error instanceof Error ? error.stack : undefined,
          },
          'request failed',
        );
    }
  }

  private outageLine(code: string): { omitted?: number } | undefined {
    const limit = this.outages.get(code) ?? new LineLimit(OUTAGE_LINES);
    this.outages.set(code, limit);
    return limit.next(new Date());
  }
}

const methodNotAllowed = (method: string): AppError =>
  new NonRetriableError('method-not-allowed', `The path has no method ${method}.`);

/** RFC 6750, 3: what was sent is called invalid only where something was sent. */
const challengeTo = ({ headers }: FastifyRequest): string =>
  headers.authorization === undefined ? 'Bearer realm="parley"' : 'Bearer realm="parley", error="invalid_token"';
