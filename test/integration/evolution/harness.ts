import { type AnyContract, type RegisteredFormat, subjectFor, topicFor } from '../../../src/contracts';
import { subjectsAsPlanned } from '../../../src/messaging/evolution';
import type { Subject } from '../../../src/messaging/evolution';
import { createSchemaRegistry, type SchemaRegistry } from '../../../src/messaging/registry';

export const client = (url: string): SchemaRegistry => createSchemaRegistry({ schemaRegistryUrls: [url] });

/** One of our documents on this partner's topic, its schema as the test has it. */
export function subjectWith(partner: string, contract: AnyContract, format: RegisteredFormat, text: string): Subject {
  const topic = topicFor(contract, partner);
  return {
    ...{ partner, topic, contract, direction: contract.direction },
    name: subjectFor(contract, topic),
    schema: { format, text, references: [] },
  };
}

/** One of our documents on this partner's topic, its schema as it stands. */
export function subjectOf(partner: string, contract: AnyContract, format: RegisteredFormat): Subject {
  const found = subjectsAsPlanned([partner], format).find((subject) => subject.contract === contract);
  if (!found) throw new Error(`${contract.name} is not in the catalogue`);
  return found;
}

export async function levelOf(url: string, subject: string): Promise<string | undefined> {
  const response = await fetch(`${url}/config/${encodeURIComponent(subject)}`);
  const { compatibilityLevel, compatibility } = (await response.json()) as Record<string, string>;
  return compatibilityLevel ?? compatibility;
}
