import {
  createSchemaRegistry,
  resolveReferences,
  type SchemaReference,
  type SchemaRegistry,
  SchemaRefused,
  type SchemaText,
  TopicSchemas,
} from '../../../src/messaging/registry';
import { testRegistry, uniqueSubject } from '../../support/registry';

const record = (name: string, ...fields: object[]): SchemaText => ({
  format: 'avro',
  text: JSON.stringify({ type: 'record', name, namespace: 'parley.test', fields }),
  references: [],
});
const V1 = record('Order', { name: 'number', type: 'string' });
const V2 = record('Order', { name: 'number', type: 'string' }, { name: 'note', type: 'string', default: '' });
const V3 = record('Order', { name: 'number', type: 'string' }, { name: 'must', type: 'string' });
const PROTO: SchemaText = {
  format: 'protobuf',
  text: 'syntax = "proto3";\npackage parley.test;\n\nmessage Money {\n  string amount = 1;\n}\n',
  references: [],
};
const JSON_SCHEMA: SchemaText = {
  format: 'json-schema',
  text: '{"type":"object","properties":{"number":{"type":"string"}}}',
  references: [],
};

describe('a real schema registry', () => {
  let url: string;
  let registry: SchemaRegistry;
  beforeAll(async () => {
    url = await testRegistry();
    registry = createSchemaRegistry({ schemaRegistryUrls: [url] });
  });
  afterAll(() => registry.close());

  it.each([
    ['Avro', V1],
    ['Protobuf', PROTO],
    ['JSON Schema', JSON_SCHEMA],
  ])('keeps a schema of %s and gives it back letter for letter', async (_, schema) => {
    const subject = uniqueSubject('order');
    const registered = await registry.register(subject, schema);
    expect(registered).toEqual({ ...schema, subject, version: 1, id: registered.id });
    expect(await registry.register(subject, schema)).toEqual(registered);
    expect(await registry.lookup(subject, schema)).toEqual(registered);
    expect(await registry.versions(subject)).toEqual([registered]);
    expect(await registry.version(subject, 1)).toEqual(registered);
    expect(registry.trouble).toBeUndefined();
  });

  it('knows nothing of what was never registered', async () => {
    const subject = uniqueSubject('order');
    expect(await registry.versions(subject)).toEqual([]);
    expect(await registry.version(subject, 1)).toBeUndefined();
    expect(await registry.lookup(subject, V1)).toBeUndefined();
    expect(await registry.judge(subject, V1)).toEqual({ compatible: true, reasons: [] });
    await registry.register(subject, V1);
    expect(await registry.version(subject, 2)).toBeUndefined();
    expect(await registry.lookup(subject, V2)).toBeUndefined();
  });

  it('judges a subject by its level, which can be set before there is a version', async () => {
    const subject = uniqueSubject('order');
    await registry.setCompatibility(subject, 'FULL_TRANSITIVE');
    await registry.register(subject, V1);
    expect(await registry.judge(subject, V2)).toMatchObject({ compatible: true });
    expect(await registry.judge(subject, V3)).toMatchObject({ compatible: false });
    const refused = registry.register(subject, V3);
    await expect(refused).rejects.toMatchObject({ code: 'registry-refused', retriable: false });
    await expect(refused).rejects.toThrow(/Incompatible/);
    await registry.setCompatibility(subject, 'NONE');
    expect(await registry.judge(subject, V3)).toMatchObject({ compatible: true });
  });

  it('says why a text is no schema', async () => {
    const registered = registry.register(uniqueSubject('order'), { ...V1, text: '{' });
    await expect(registered).rejects.toMatchObject({ code: 'registry-refused' });
  });

  it('takes the level NONE for a subject with a version only', async () => {
    const set = registry.setCompatibility(uniqueSubject('order'), 'NONE');
    await expect(set).rejects.toMatchObject({ hint: expect.stringContaining('register it') as string });
  });

  it('still lists deleted versions, for old records name them', async () => {
    const subject = uniqueSubject('order');
    const first = await registry.register(subject, V1);
    const second = await registry.register(subject, V2);
    await remove(`${subject}/versions/1`);
    const fresh = createSchemaRegistry({ schemaRegistryUrls: [url] });
    try {
      expect(await fresh.versions(subject)).toEqual([first, second]);
      expect(await new TopicSchemas(fresh).find('orders', [subject], first.id, Date.now())).toEqual(first);
    } finally {
      await fresh.close();
    }
  });

  it('may count from 1 again after a subject was deleted for good', async () => {
    const subject = uniqueSubject('order');
    await registry.register(subject, V1);
    await registry.versions(subject);
    await remove(subject);
    await remove(`${subject}?permanent=true`);
    const again = await registry.register(subject, V2);
    expect(again.version).toBe(1);
    expect(await registry.versions(subject)).toEqual([again]);
  });

  it('at a wrong path is an outage, not an empty registry', async () => {
    const wrong = createSchemaRegistry({ schemaRegistryUrls: [url.replace('/apis/ccompat/v7', '')] });
    try {
      const asked = wrong.versions(uniqueSubject('order'));
      await expect(asked).rejects.toMatchObject({
        code: 'registry-unavailable',
        hint: expect.stringContaining('/apis/ccompat/v7') as string,
      });
      expect(wrong.trouble).toContain('without an error of its API');
    } finally {
      await wrong.close();
    }
  });

  it('resolves references, each once and after what it needs itself', async () => {
    const reference = (name: string, subject: string): SchemaReference => ({ name, subject, version: 1 });
    const [money, line, order] = [uniqueSubject('money'), uniqueSubject('line'), uniqueSubject('order')];
    await registry.register(money, PROTO);
    const lineSchema: SchemaText = {
      format: 'protobuf',
      text: 'syntax = "proto3";\npackage parley.test;\n\nimport "money.proto";\n\nmessage Line {\n  Money price = 1;\n}\n',
      references: [reference('money.proto', money)],
    };
    await registry.register(line, lineSchema);
    const orderSchema: SchemaText = {
      format: 'protobuf',
      text: 'syntax = "proto3";\npackage parley.test;\n\nimport "line.proto";\nimport "money.proto";\n\nmessage Order {\n  Line line = 1;\n  Money total = 2;\n}\n',
      references: [reference('line.proto', line), reference('money.proto', money)],
    };
    const registered = await registry.register(order, orderSchema);
    expect((await registry.versions(order))[0]?.references).toEqual(orderSchema.references);
    const resolved = await resolveReferences(registry, registered);
    expect(resolved.map(({ name, schema }) => [name, schema.text])).toEqual([
      ['money.proto', PROTO.text],
      ['line.proto', lineSchema.text],
    ]);
    const dangling = { ...orderSchema, references: [reference('x.proto', uniqueSubject('nothing'))] };
    await expect(resolveReferences(registry, dangling)).rejects.toBeInstanceOf(SchemaRefused);
  });

  async function remove(path: string): Promise<void> {
    const response = await fetch(`${url}/subjects/${path}`, { method: 'DELETE' });
    expect(response.status).toBe(200);
  }
});
