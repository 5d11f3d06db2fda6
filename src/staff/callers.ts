import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/errors';
import type { CallerRequest } from './allow';
import { AUTHENTICATOR, type Authenticator, unauthenticated } from './authenticator';
import { CallLimits } from './call-limits';
import type { Caller } from './principal';

/** Largest access tokens: those that name a person's groups. */
const LONGEST = 8192;
/** RFC 6750: the scheme is case-insensitive; a token in a URL or a body is never looked at. */
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** Tells who sent a request, within the limits; once a request. */
@Injectable()
export class Callers {
  constructor(
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    private readonly limits: CallLimits,
  ) {}

  /** Throws `unauthenticated`, `forbidden`, `rate-limited`; what an unreachable database or identity provider throws means that nobody knows. */
  async of(request: FastifyRequest & CallerRequest): Promise<Caller> {
    if (request.caller) return request.caller;
    this.limits.arrived(request.ip);
    const principal = await this.identify(request);
    this.limits.admitted(principal.id);
    return (request.caller = { ...principal, origin: request.ip });
  }

  private async identify(request: FastifyRequest) {
    try {
      return await this.authenticator.authenticate(tokenOf(request));
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated')
        this.limits.loginRefused(request.ip, error.message, request.id);
      throw error;
    }
  }
}

function tokenOf({ headers: { authorization = '' } }: FastifyRequest): string {
  const [, token] = BEARER.exec(authorization) ?? [];
  if (token === undefined) throw unauthenticated('The request names no API key and no access token.');
  if (token.length > LONGEST) throw unauthenticated(`What was sent is longer than ${LONGEST} characters.`);
  return token;
}
