import { readFileSync } from 'node:fs';
import { CONTRACTS, type RegisteredFormat } from '../../src/contracts';
import { createCodec, type Decoded } from '../../src/messaging/registry';
import { MemoryRegistry } from '../unit/messaging/registry/memory-registry';

interface Vector {
  note: string;
  contract: string;
  format: RegisteredFormat;
  topic: string;
  subject: string;
  schema: { id: number; guid: string; text: number };
  headers: Record<string, string>;
  payload: string;
  value?: unknown;
  error?: { code: string; mentions: string };
  ours: boolean;
}

const [first, ...lines] = readFileSync(`${__dirname}/golden/vectors.ndjson`, 'utf8').trim().split('\n');
const { schemas } = JSON.parse(first as string) as { schemas: string[] };
const vectors = lines.map((line) => JSON.parse(line) as Vector);

const contractOf = ({ contract }: Vector) => {
  const found = CONTRACTS.find(({ name }) => name === contract);
  if (!found) throw new Error(`There is no contract ${contract}.`);
  return found;
};

/** A codec whose registry has what the vector was written under, and nothing else. */
function codecFor({ schema: { id, guid, text }, subject, format }: Vector) {
  const registry = new MemoryRegistry();
  registry.add({ id, guid, subject, version: 1, format, text: schemas[text] as string, references: [] });
  return createCodec(registry);
}

const decode = (vector: Vector): Promise<Decoded> => {
  const headers = Object.fromEntries(
    Object.entries(vector.headers).map(([name, value]) => [name, Buffer.from(value, 'hex')]),
  );
  return codecFor(vector).decode(contractOf(vector), vector, { value: Buffer.from(vector.payload, 'hex'), headers });
};

describe("what Confluent's client for Python wrote", () => {
  it('is there for all formats, with the id in the payload and in the header', () => {
    const kinds = new Set(vectors.map(({ format, headers }) => `${format} ${Object.keys(headers).join()}`));
    expect([...kinds].sort()).toEqual([
      'avro ',
      'avro __value_schema_id',
      'json-schema ',
      'json-schema __value_schema_id',
      'protobuf ',
      'protobuf __value_schema_id',
    ]);
  });

  it.each(vectors.filter(({ error }) => !error).map((vector) => [vector.note, vector] as const))(
    'is read: %s',
    async (_note, vector) => {
      expect(await decode(vector)).toEqual({ ok: true, value: vector.value, schemaId: vector.schema.id });
    },
  );

  it.each(vectors.filter(({ error }) => error).map((vector) => [vector.note, vector] as const))(
    'is refused with a reason: %s',
    async (_note, vector) => {
      const { code, mentions } = vector.error as { code: string; mentions: string };
      expect(await decode(vector)).toMatchObject({ ok: false, error: { code } });
      expect(JSON.stringify(await decode(vector))).toContain(mentions);
    },
  );

  it.each(vectors.filter(({ ours }) => ours).map((vector) => [vector.note, vector] as const))(
    'has the very bytes that we write: %s',
    async (_note, vector) => {
      const { payload } = await codecFor(vector).encode(contractOf(vector), vector, vector.value);
      expect(payload.toString('hex')).toBe(vector.payload);
    },
  );
});
