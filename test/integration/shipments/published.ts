import { readFileSync } from 'node:fs';
import { Type } from 'avsc';
import { type AnyContract, CONTRACTS, contractsFor, schemaFileOf, subjectFor, topicFor } from '../../../src/contracts';
import { registerSchema } from '../../support/registry';

const avroOf = (contract: AnyContract): string => readFileSync(schemaFileOf(contract, 'avro'), 'utf8');

/** Registers the Avro schemas of a partner's topics, and returns their ids by contract. */
export async function publishAvro(registry: string, partner: string): Promise<ReadonlyMap<AnyContract, number>> {
  const ids = new Map<AnyContract, number>();
  for (const contract of contractsFor(CONTRACTS, partner).filter(({ format }) => format === undefined)) {
    const subject = subjectFor(contract, topicFor(contract, partner));
    ids.set(contract, await registerSchema(registry, subject, { schema: avroOf(contract) }));
  }
  return ids;
}

/** A document in Confluent's wire format, made by avsc alone. */
export function frame(contract: AnyContract, schemaId: number, value: unknown): Buffer {
  const head = Buffer.alloc(5);
  head.writeInt32BE(schemaId, 1);
  return Buffer.concat([head, Type.forSchema(JSON.parse(avroOf(contract)) as never).toBuffer(value)]);
}

/** What {@link frame} made, and the schema id that it names. */
export function unframe(contract: AnyContract, bytes: Buffer): { schemaId: number; value: Record<string, unknown> } {
  const value = Type.forSchema(JSON.parse(avroOf(contract)) as never).fromBuffer(bytes.subarray(5)) as object;
  return { schemaId: bytes.readInt32BE(1), value: { ...value } };
}
