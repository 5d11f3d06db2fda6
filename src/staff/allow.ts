import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiExtension } from '@nestjs/swagger';
import type { Area, Caller, Role } from './principal';

export const ALLOW = 'parley:allow';
export const PUBLIC = 'parley:public';

export interface Permission {
  least: Role;
  area: Area;
}

/** Where the guard leaves who calls. */
export interface CallerRequest {
  caller?: Caller;
}

/** Who may call this operation. Every operation has this or {@link Public}: what has neither is refused, and keeps the process from starting. */
export function Allow(least: Role, area: Area): MethodDecorator {
  return applyDecorators(
    SetMetadata(ALLOW, { least, area } satisfies Permission),
    ApiBearerAuth(),
    ApiExtension('x-least-role', least),
    ApiExtension('x-area', area),
  );
}

/** Anybody may: probes, metrics on their own port, the pages that explain problems. */
export function Public(): MethodDecorator & ClassDecorator {
  return SetMetadata(PUBLIC, true);
}

/** Parameter: the {@link Caller} that the guard has let in. */
export const TheCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<CallerRequest>();
  if (!caller) throw new Error('an operation asks for its caller and has no guard');
  return caller;
});
