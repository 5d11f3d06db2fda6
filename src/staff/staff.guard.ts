import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppError, NonRetriableError } from '../platform/errors';
import type { CallerRequest, Permission } from './allow';
import { AUTHENTICATOR, type Authenticator, unauthenticated } from './authenticator';
import { LoginLog } from './login-log';
import { permissionOf } from './permission';
import { type Principal, reaches } from './principal';

/** RFC 6750: the scheme is case-insensitive; a key in a URL or a body is never looked at. */
const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/**
 * Lets in who may: an operation without a word about that is refused. Global, so a hybrid application asks it about its message
 * handlers too; there a partner acts, whose topic says who it is.
 */
@Injectable()
export class StaffGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    private readonly logins: LoginLog,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const permission = permissionOf(this.reflector, context.getHandler(), context.getClass());
    if (permission === 'public') return true;
    return this.admit(context.switchToHttp().getRequest<FastifyRequest & CallerRequest>(), permission);
  }

  private async admit(request: FastifyRequest & CallerRequest, permission: Permission | undefined): Promise<true> {
    const principal = await this.identify(request);
    const why = permission ? refusalOf(principal, permission) : 'this operation does not say who may call it';
    if (why !== undefined) {
      throw new NonRetriableError('forbidden', `The key "${principal.name}" may not do this: ${why}.`, {
        hint: 'Use a key that may, or ask an administrator for one.',
      });
    }
    request.caller = { ...principal, origin: request.ip };
    return true;
  }

  private async identify(request: FastifyRequest): Promise<Principal> {
    try {
      const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
      if (token === undefined) throw unauthenticated('The request names no API key.');
      return await this.authenticator.authenticate(token);
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated')
        this.logins.refused(request.ip, error.message, request.id);
      throw error;
    }
  }
}

function refusalOf({ role, areas }: Principal, { least, area }: Permission): string | undefined {
  if (areas && !areas.includes(area)) return `it is confined to ${areas.join(', ') || 'nothing'}, and this is ${area}`;
  return reaches(role, least) ? undefined : `it takes the role ${least}, and the key has ${role}`;
}
