import { readFileSync } from 'node:fs';
import { CONTRACTS, REGISTERED_FORMATS, schemaFileOf, subjectFor, topicFor } from '../../../../src/contracts';
import { MemoryRegistry } from './memory-registry';

/** Those that travel in the partner's format. */
export const REGISTERED_CONTRACTS = CONTRACTS.filter(({ format }) => format !== 'json');

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
