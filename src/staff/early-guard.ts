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
    http.addHook('onRequest', async (request) => {
      if (hasBody(request) && request.routeOptions.url?.startsWith('/v1/')) await this.callers.of(request);
    });
  }
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
