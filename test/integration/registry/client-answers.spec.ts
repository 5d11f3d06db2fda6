import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSchemaRegistry, type SchemaRegistry, type SchemaText } from '../../../src/messaging/registry';
import { type ReplayServer, startReplay } from './replay-server';

interface Vector {
  request: string;
  status: number;
  body: unknown;
}

const { answers } = JSON.parse(readFileSync(join(__dirname, 'vectors', 'confluent.json'), 'utf8')) as {
  answers: Record<string, Vector>;
};
const AVRO: SchemaText = { format: 'avro', text: '{"type":"string"}', references: [] };

describe("the answers that Confluent's registry gives", () => {
  let server: ReplayServer;
  let registry: SchemaRegistry;
  beforeAll(async () => {
    server = await startReplay(({ line }) => Object.values(answers).find(({ request }) => request === line));
  });
  beforeEach(() => {
    registry = createSchemaRegistry({ schemaRegistryUrls: [server.url] });
    server.heard.length = 0;
  });
  afterEach(() => registry.close());
  afterAll(() => server.stop());

  it('become versions, oldest first, whatever their type', async () => {
    expect(await registry.versions('orders-value')).toEqual([
      {
        subject: 'orders-value',
        version: 1,
        id: 100001,
        guid: '1B7ED5FA-0E0F-8A4B-A4A4-0C5F4D9B9A10',
        format: 'avro',
        text: '{"type":"string"}',
        references: [],
      },
      expect.objectContaining({
        format: 'protobuf',
        id: 100002,
        references: [{ name: 'money.proto', subject: 'money', version: 4 }],
      }),
      expect.objectContaining({ format: 'json-schema', id: 7 }),
    ]);
    expect(registry.trouble).toBeUndefined();
  });

  it('about what is not there become values', async () => {
    expect(await registry.versions('nothing-value')).toEqual([]);
    expect(await registry.version('orders-value', 9)).toBeUndefined();
    expect(await registry.lookup('lines-value', AVRO)).toBeUndefined();
    expect(await registry.judge('nothing-value', AVRO)).toEqual({ compatible: true, reasons: [] });
    expect(server.heard).toHaveLength(4);
    expect(registry.trouble).toBeUndefined();
  });

  it('about a known text keep the format that was asked with, for they leave it out', async () => {
    const proto: SchemaText = {
      ...AVRO,
      format: 'protobuf',
      references: [{ name: 'm', subject: 'money', version: 1 }],
    };
    expect(await registry.lookup('orders-value', proto)).toEqual({
      ...proto,
      subject: 'orders-value',
      version: 1,
      id: 100001,
    });
    expect(JSON.parse(server.heard[0]?.body ?? '')).toEqual({
      schema: AVRO.text,
      schemaType: 'PROTOBUF',
      references: [{ name: 'm', subject: 'money', version: 1 }],
    });
  });

  it('to a registration are completed by a look', async () => {
    expect(await registry.register('orders-value', AVRO)).toMatchObject({ id: 100001, version: 1, format: 'avro' });
  });

  it.each([
    ['an incompatible schema', 'lines-value', /READER_FIELD_MISSING_DEFAULT_VALUE/],
    ['a text that is no schema', 'broken-value', /Invalid schema broken/],
  ])('refuse %s once, with the reason', async (_, subject, reason) => {
    const registered = registry.register(subject, AVRO);
    await expect(registered).rejects.toMatchObject({ code: 'registry-refused', retriable: false });
    await expect(registered).rejects.toThrow(reason);
    expect(server.heard).toHaveLength(1);
  });

  it('judge with reasons', async () => {
    expect(await registry.judge('lines-value', AVRO)).toEqual({
      compatible: false,
      reasons: ['READER_FIELD_MISSING_DEFAULT_VALUE', '{oldSchemaVersion: 1}'],
    });
  });

  it('set the level of a subject, or say why not', async () => {
    await registry.setCompatibility('orders-value', 'FULL_TRANSITIVE');
    expect(server.heard[0]?.body).toBe('{"compatibility":"FULL_TRANSITIVE"}');
    await expect(registry.setCompatibility('lines-value', 'FULL_TRANSITIVE')).rejects.toThrow(/Invalid compatibility/);
  });

  it.each([
    ['private-value', /credentials/],
    ['foreign-value', /not allow/],
  ])('refuse us at %s for good, and health says so', async (subject, reason) => {
    const asked = registry.versions(subject);
    await expect(asked).rejects.toMatchObject({
      code: 'registry-refused',
      retriable: false,
      hint: expect.stringContaining('SCHEMA_REGISTRY_USERNAME') as string,
    });
    await expect(asked).rejects.toThrow(subject);
    expect(server.heard).toHaveLength(1);
    expect(registry.trouble).toMatch(reason);
    await registry.versions('orders-value');
    expect(registry.trouble).toBeUndefined();
  });

  it('are asked for in the words of the API', async () => {
    await registry.lookup('orders-value', AVRO);
    expect(server.heard[0]?.headers).toMatchObject({
      accept: 'application/vnd.schemaregistry.v1+json',
      'content-type': 'application/vnd.schemaregistry.v1+json',
      'confluent-accept-unknown-properties': 'true',
    });
    expect(server.heard[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('an account at the registry', () => {
  it.each([
    ['basic', { schemaRegistryUsername: 'kate', schemaRegistryPassword: 'pä:ss' }, 'Basic a2F0ZTpww6Q6c3M='],
    ['bearer', { schemaRegistryToken: 'abc.def' }, 'Bearer abc.def'],
  ])('is shown by %s authentication', async (_, account, expected) => {
    const server = await startReplay(() => ({ body: [] }));
    const registry = createSchemaRegistry({ schemaRegistryUrls: [server.url], ...account });
    try {
      await registry.versions('x');
      expect(server.heard[0]?.headers.authorization).toBe(expected);
    } finally {
      await registry.close();
      await server.stop();
    }
  });
});
