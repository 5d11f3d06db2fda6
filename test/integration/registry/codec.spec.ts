import { readFileSync } from 'node:fs';
import { startRegistry, type RegistryServer } from '../../../scripts/servers/index.mjs';
import {
  type AnyContract,
  isInternal,
  orderResponse,
  REGISTERED_FORMATS,
  type RegisteredFormat,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../../../src/contracts';
import {
  type Codec,
  createCodec,
  createSchemaRegistry,
  RegistryUnavailable,
  type SchemaRegistry,
} from '../../../src/messaging/registry';
import { uniqueName } from '../../support/kafka';
import { REGISTERED_CONTRACTS } from '../../unit/messaging/registry/documents';

const everyOne = REGISTERED_CONTRACTS.flatMap((contract) =>
  REGISTERED_FORMATS.map((format) => [contract.name, format, contract] as const),
);

describe('codecs with a real registry', () => {
  let server: RegistryServer;
  let registry: SchemaRegistry;
  /** Has published; another one, which begins without knowing anything, reads. */
  let codec: Codec;
  const connect = () => createSchemaRegistry({ schemaRegistryUrls: [server.url], schemaRegistryDeadlineMs: 10_000 });
  beforeAll(async () => {
    server = await startRegistry();
    registry = connect();
    codec = createCodec(registry);
  });
  afterAll(async () => {
    await registry.close();
    await server.stop();
  });

  /** A topic of its own for each format: a subject of the registry speaks one. */
  async function publish(contract: AnyContract, format: RegisteredFormat, partner = uniqueName('acme')) {
    const topic = isInternal(contract) ? `${partner}.${contract.topic}` : topicFor(contract, partner);
    const text = readFileSync(schemaFileOf(contract, format), 'utf8');
    await registry.register(subjectFor(contract, topic), { format, text, references: [] });
    return { topic, format };
  }

  it.each(everyOne)(
    '%s in %s is written under the published schema, and read again',
    async (_name, format, contract) => {
      const route = await publish(contract, format);
      const reader = createCodec(registry);
      for (const example of contract.examples) {
        const { payload, dataSchema } = await codec.encode(contract, route, example);
        expect(dataSchema).toBe(`urn:parley:subjects/${subjectFor(contract, route.topic)}/versions/1`);
        expect(await reader.decode(contract, route, { value: payload, headers: {} })).toEqual({
          ok: true,
          value: example,
          schemaId: payload.readUInt32BE(1),
        });
      }
    },
  );

  it('an id of another partner is unknown here, though the registry has it', async () => {
    const other = await publish(orderResponse, 'avro');
    // The registry gives the same content the same id; another document has another.
    const foreign = await registry.register(`${other.topic}-value`, {
      format: 'avro',
      text: JSON.stringify({
        type: 'record',
        name: 'OrderResponse',
        namespace: 'x',
        fields: [{ name: 'a', type: 'int' }],
      }),
      references: [],
    });
    const route = await publish(orderResponse, 'avro');
    const { payload } = await codec.encode(orderResponse, route, orderResponse.examples[0]);
    payload.writeUInt32BE(foreign.id, 1);
    expect(await codec.decode(orderResponse, route, { value: payload, headers: {} })).toMatchObject({
      ok: false,
      error: { code: 'schema-unknown' },
    });
    expect(await codec.decode(orderResponse, other, { value: payload, headers: {} })).toMatchObject({
      ok: false,
      error: { code: 'schema-mismatch' },
    });
  });

  it('what is not published is not written, and is once it is published', async () => {
    const route = { topic: topicFor(orderResponse, uniqueName('late')), format: 'avro' as const };
    const partner = route.topic.split('.')[1] as string;
    await expect(codec.ready(orderResponse, route)).rejects.toMatchObject({ code: 'schema-unpublished' });
    await publish(orderResponse, 'avro', partner);
    const again = createCodec(registry);
    await expect(again.ready(orderResponse, route)).resolves.toBeUndefined();
  });

  it('an outage is nothing to who knows the schema, and an outage to who does not', async () => {
    const route = await publish(orderResponse, 'avro');
    const { payload } = await codec.encode(orderResponse, route, orderResponse.examples[0]);
    const record = { value: payload, headers: {} };
    await codec.decode(orderResponse, route, record);
    await server.kill();
    expect(await codec.decode(orderResponse, route, record)).toMatchObject({ ok: true });
    await expect(codec.encode(orderResponse, route, orderResponse.examples[0])).resolves.toBeDefined();
    const cold = createCodec(registry);
    await expect(cold.decode(orderResponse, route, record)).rejects.toThrow(RegistryUnavailable);
    await expect(cold.encode(orderResponse, route, orderResponse.examples[0])).rejects.toThrow(RegistryUnavailable);
    await server.restart();
    expect(await cold.decode(orderResponse, route, record)).toMatchObject({ ok: true });
  });
});
