import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { NonRetriableError } from '../platform/errors';
import type { CallerRequest, Permission } from './allow';
import { Callers } from './callers';
import { permissionOf } from './permission';
import { type Principal, reaches } from './principal';

/**
 * Lets in who may: an operation without a word about that is refused. Global, so a hybrid application asks it about its message
 * handlers too; there a partner acts, whose topic says who it is.
 */
@Injectable()
export class StaffGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly callers: Callers,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return true;
    const permission = permissionOf(this.reflector, context.getHandler(), context.getClass());
    if (permission === 'public') return true;
    return this.admit(context.switchToHttp().getRequest<FastifyRequest & CallerRequest>(), permission);
  }

  private async admit(request: FastifyRequest & CallerRequest, permission: Permission | undefined): Promise<true> {
    const caller = await this.callers.of(request);
    const why = permission ? refusalOf(caller, permission) : 'this operation does not say who may call it';
    if (why === undefined) return true;
    throw new NonRetriableError('forbidden', `"${caller.name}" may not do this: ${why}.`, {
      hint: 'Use a key or sign in as somebody who may, or ask an administrator.',
    });
  }
}

function refusalOf({ role, areas }: Principal, { least, area }: Permission): string | undefined {
  if (areas && !areas.includes(area))
    return `the caller is confined to ${areas.join(', ') || 'nothing'}, and this is ${area}`;
  return reaches(role, least) ? undefined : `it takes the role ${least}, and the caller has ${role}`;
}
