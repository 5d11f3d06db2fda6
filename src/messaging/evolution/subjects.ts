import { readFileSync } from 'node:fs';
import {
  type AnyContract,
  CONTRACTS,
  contractsFor,
  contractsOn,
  type Direction,
  formatOf,
  PARTNER_ID_PATTERN,
  REGISTERED_FORMATS,
  type RegisteredFormat,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../../contracts';
import { NonRetriableError } from '../../platform/errors';
import type { Channel } from '../channels';
import type { SchemaText } from '../registry';

/** One of our schemas in the place where a registry keeps it: a document, on one topic of one partner. */
export interface Subject {
  partner: string;
  topic: string;
  contract: AnyContract;
  direction: Direction;
  /** Name of the subject. */
  name: string;
  schema: SchemaText;
}

type Topic = Pick<Channel, 'partner' | 'topic' | 'format'>;

/** Of these channels: each document whose format has a registry. */
export function subjectsOf(channels: readonly Topic[]): Subject[] {
  return channels.flatMap(({ partner, topic, format }) =>
    contractsOn(CONTRACTS, topic, partner).flatMap((contract) => {
      const spoken = formatOf(contract, format);
      return isRegistered(spoken) ? [subjectOf(contract, { partner, topic }, spoken)] : [];
    }),
  );
}

/** The same for partners that nobody added yet: their topics as they would be. Throws `partner-id-invalid`. */
export function subjectsAsPlanned(partners: readonly string[], format: RegisteredFormat): Subject[] {
  for (const partner of partners) {
    if (!new RegExp(PARTNER_ID_PATTERN).test(partner))
      throw new NonRetriableError('partner-id-invalid', `"${partner}" is no partner id.`, {
        hint: 'A lower-case letter, then up to 31 lower-case letters, digits or dashes.',
      });
  }
  const topics = new Map<string, Topic>();
  for (const partner of new Set(partners))
    for (const contract of contractsFor(CONTRACTS, partner)) {
      const topic = topicFor(contract, partner);
      topics.set(topic, { partner, topic, format });
    }
  return subjectsOf([...topics.values()]);
}

function subjectOf(contract: AnyContract, at: { partner: string; topic: string }, format: RegisteredFormat): Subject {
  return {
    ...at,
    contract,
    direction: contract.direction,
    name: subjectFor(contract, at.topic),
    schema: { format, text: readFileSync(schemaFileOf(contract, format), 'utf8'), references: [] },
  };
}

const isRegistered = (format: string): format is RegisteredFormat =>
  (REGISTERED_FORMATS as readonly string[]).includes(format);
