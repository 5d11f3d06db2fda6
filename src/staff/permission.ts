import type { ExecutionContext, Type } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ALLOW, type Permission, PUBLIC } from './allow';

type Handler = ReturnType<ExecutionContext['getHandler']>;

/** Who may call an operation; undefined: it doesn't say. What a method says goes before what its class says. */
export function permissionOf(
  reflector: Reflector,
  handler: Handler,
  controller: Type,
): Permission | 'public' | undefined {
  const permission = reflector.get<Permission | undefined>(ALLOW, handler);
  if (permission) return permission;
  return reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [handler, controller]) ? 'public' : undefined;
}
