import { readFileSync } from 'node:fs';
import {
  type AnyContract,
  despatchAdvice,
  despatchReceipt,
  errorReport,
  orderCancellation,
  orderCancellationResponse,
  orderRequest,
  orderResponse,
  REGISTERED_FORMATS,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../../../../src/contracts';
import { MemoryRegistry } from './memory-registry';

export const ALL_CONTRACTS: readonly AnyContract[] = [
  orderRequest,
  orderResponse,
  orderCancellation,
  orderCancellationResponse,
  despatchAdvice,
  despatchReceipt,
  errorReport,
];

/** Those that travel in the partner's format. */
export const REGISTERED_CONTRACTS = ALL_CONTRACTS.filter(({ format }) => format !== 'json');

/** A registry that has all our schemas for a partner's topics. */
export function publishedRegistry(partner: string): MemoryRegistry {
  const registry = new MemoryRegistry();
  for (const contract of REGISTERED_CONTRACTS) {
    const subject = subjectFor(contract, topicFor(contract, partner));
    for (const format of REGISTERED_FORMATS) {
      registry.put(subject, format, readFileSync(schemaFileOf(contract, format), 'utf8'));
    }
  }
  return registry;
}
