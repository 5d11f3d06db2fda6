import { applyDecorators, type ArgumentsHost, Catch, type RpcExceptionFilter, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { type Observable, throwError } from 'rxjs';
import { type Contract, typeOf } from '../../contracts';
import type { InboundHandler } from './handler';

/** Marks handlers whose errors keep their identity; the transport refuses others. */
export const KEEPS_ERRORS = 'parley:keeps-errors';

/**
 * Nest's own filter turns every error into "Internal server error". The processor must see the original: a lost database
 * is waited for, a NonRetriableError is dead at once, all else is split and retried.
 */
@Catch()
class RethrowFilter implements RpcExceptionFilter {
  catch(exception: unknown, _host: ArgumentsHost): Observable<never> {
    return throwError(() => exception);
  }
}

/**
 * Makes a controller's method the one handler of an inbound contract: `@EventPattern(typeOf(contract))` plus a filter of
 * the method that keeps errors as they are (a method's filter goes before global ones).
 */
export function HandlesContract<T>(
  contract: Contract<T>,
): <Method extends InboundHandler<T>>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void {
  return applyDecorators(
    EventPattern<string>(typeOf(contract), { [KEEPS_ERRORS]: true }),
    UseFilters(new RethrowFilter()),
  );
}
