import type { MessageHandler } from '@nestjs/microservices';
import { type AnyContract, typeOf } from '../../contracts';
import { KEEPS_ERRORS } from './contract-handler';

/**
 * Every inbound contract has exactly one handler, and every handler a contract: otherwise the process must not start, since
 * a document without a handler would be a dead letter and one with two would be applied twice. All faults at once.
 */
export function checkHandlers(handlers: ReadonlyMap<string, MessageHandler>, contracts: readonly AnyContract[]): void {
  const inbound = contracts.filter((contract) => contract.direction === 'in').map(typeOf);
  const faults = inbound.flatMap((type) => {
    const handler = handlers.get(type);
    if (!handler) return [`${type} has no handler`];
    if (handler.next) return [`${type} has more than one handler`];
    if (handler.extras?.[KEEPS_ERRORS] !== true)
      return [`the handler of ${type} is not declared with @HandlesContract`];
    return [];
  });
  for (const pattern of handlers.keys()) {
    if (!inbound.includes(pattern)) faults.push(`a handler waits for ${pattern}, which no partner sends`);
  }
  if (faults.length > 0) throw new Error(`Inbound documents are not wired: ${faults.join('; ')}.`);
}
