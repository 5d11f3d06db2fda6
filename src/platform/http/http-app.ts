import type { IncomingMessage } from 'node:http';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config';
import { type Logger, NestLogger } from '../telemetry';
import { serveDocs } from './docs';
import { ProblemFilter } from './problem.filter';
import { problemOf, verdictOf } from './problem';
import { requestIdOf, traceIdOf } from './trace';
import { DtoPipe } from './validation.pipe';

/** Most items of an array in any body: the largest document of ours has 1,000 lines. */
const MAX_ITEMS = 1000;
const REQUEST_TIMEOUT_MS = 30_000;

const HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cache-control', 'no-store'],
];

/**
 * The HTTP application over the root module, not yet initialized: problem+json for every failure, DTO checks, trace and
 * request ids, body limit, security headers, `/docs`. The caller connects microservices, calls `init()` and `listen()`.
 */
export async function createHttpApp(
  root: Type | DynamicModule,
  config: Pick<Config, 'httpBodyLimit'>,
  logger: Logger,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter(config.httpBodyLimit), {
    logger: new NestLogger(logger),
    // Nest's parsers also take forms; Fastify's JSON parser alone answers 415 for everything else.
    bodyParser: false,
  });
  const http = app.getHttpAdapter().getInstance();
  http.removeContentTypeParser('text/plain');
  http.addHook('onRequest', (request, reply, done) => {
    for (const [name, value] of HEADERS) void reply.header(name, value);
    void reply.header('x-request-id', requestIdOf(request.headers, request.id));
    done();
  });
  http.addHook('onResponse', (request, reply, done) => {
    logger.debug(
      {
        trace: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request answered',
    );
    done();
  });
  app.useGlobalFilters(new ProblemFilter(logger));
  app.useGlobalPipes(new DtoPipe({ maxItems: MAX_ITEMS }));
  serveDocs(app);
  return app;
}

function adapter(bodyLimit: number): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit,
    // Nobody's X-Forwarded-* is believed.
    trustProxy: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: (request: IncomingMessage) => traceIdOf(request.headers),
    // A malformed URL is answered before any hook or filter runs.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const verdict = verdictOf(error);
      void reply
        .status(verdict.status)
        .header('content-type', 'application/problem+json; charset=utf-8')
        .send(JSON.stringify(problemOf(verdict, '/', request.id)));
    },
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: true },
    multipart: false,
    skipMiddie: true,
  });
}
