import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Callers } from './callers';

/** Asks who calls before a body is read: Nest's guards come behind the parser, and strangers must not have a mebibyte of JSON parsed. */
@Injectable()
export class EarlyGuard implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly callers: Callers,
  ) {}

  onModuleInit(): void {
    const http: FastifyInstance = this.host.httpAdapter.getInstance();
    // No async function: it would cost every GET a promise.
    http.addHook('onRequest', (request, _, done) => {
      if (!hasBody(request) || !request.routeOptions.url?.startsWith('/v1/')) return done();
      this.callers.of(request).then(() => done(), done);
    });
  }
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
