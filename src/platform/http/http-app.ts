import type { IncomingMessage } from 'node:http';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config';
import { NonRetriableError } from '../errors';
import { type Logger, NestLogger } from '../telemetry';
import { AllowedMethods } from './allowed-methods';
import { serveDocs } from './docs';
import { ProblemFilter } from './problem.filter';
import { problemOf, verdictOf } from './problem';
import { SECURITY_HEADERS } from './security-headers';
import { requestIdOf, traceIdOf } from './trace';
import { DtoPipe } from './validation.pipe';
import { answerWireError } from './wire-errors';

/** Most items of an array in any body: the largest document of ours has 1,000 lines. */
const MAX_ITEMS = 1000;
/** A client that sends its request sign by sign holds a connection: so long for the headers, so long for all of it. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often Node looks for connections whose time is up; its own 30 s would add to both. */
const TIMEOUT_CHECK_MS = 2000;
/** Of request line and headers; the largest access tokens have 8 KiB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Connections at once, of all clients together: an idle one costs some 10 KiB. */
const MAX_CONNECTIONS = 10_000;

const HEADERS = { ...SECURITY_HEADERS, 'cache-control': 'no-store' };

type HttpConfig = Pick<Config, 'httpBodyLimit'> & Partial<Pick<Config, 'httpTrustedProxies'>>;

/**
 * The HTTP application over the root module, not yet initialized: problem+json for every failure, DTO checks, trace and
 * request ids, body limit, security headers, `/docs`. The caller connects microservices, calls `init()` and `listen()`.
 */
export async function createHttpApp(
  root: Type | DynamicModule,
  config: HttpConfig,
  logger: Logger,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter(config), {
    logger: new NestLogger(logger),
    // Nest's parsers also take forms; Fastify's JSON parser alone answers 415 for everything else.
    bodyParser: false,
  });
  const http = app.getHttpAdapter().getInstance();
  http.removeContentTypeParser('text/plain');
  const allowed = new AllowedMethods(http);
  http.server.maxConnections = MAX_CONNECTIONS;
  http.addHook('onRequest', (request, reply, done) => {
    void reply.headers(HEADERS).header('x-request-id', requestIdOf(request.headers, request.id));
    // Before a body is read: where no operation is, nobody asks who calls.
    done(request.is404 ? new NonRetriableError('not-found', 'Nothing is here.') : undefined);
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
  app.useGlobalFilters(new ProblemFilter(logger, allowed));
  app.useGlobalPipes(new DtoPipe({ maxItems: MAX_ITEMS }));
  serveDocs(app);
  return app;
}

function adapter({ httpBodyLimit: bodyLimit, httpTrustedProxies: proxies = [] }: HttpConfig): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit,
    // Of everybody else X-Forwarded-* is not believed.
    trustProxy: proxies.length > 0 ? [...proxies] : false,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    clientErrorHandler: answerWireError,
    requestTimeout: REQUEST_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: (request: IncomingMessage) => traceIdOf(request.headers),
    // A malformed URL is answered before any hook or filter runs.
    frameworkErrors: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const verdict = verdictOf(error);
      void reply
        .status(verdict.status)
        .headers(HEADERS)
        .header('content-type', 'application/problem+json; charset=utf-8')
        .send(JSON.stringify(problemOf(verdict, '/', request.id)));
    },
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: true },
    multipart: false,
    skipMiddie: true,
  });
}
