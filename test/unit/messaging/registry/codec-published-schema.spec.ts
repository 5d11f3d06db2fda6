import { PublishedSchema } from '../../../../src/messaging/registry/published-schema';
import { MemoryRegistry } from './memory-registry';

const SUBJECT = 'orders.acme.request.v1-parley.v1.OrderRequest';
const SCHEMA = { format: 'avro', text: '"string"', references: [] } as const;

describe('the published form of a schema', () => {
  function begin() {
    const registry = new MemoryRegistry();
    const clock = { now: 1_000_000 };
    return { registry, clock, schema: new PublishedSchema(registry, SUBJECT, SCHEMA, () => clock.now) };
  }

  it('is asked for once by many at a time, and never again once it is there', async () => {
    const { registry, schema } = begin();
    const registered = registry.put(SUBJECT, 'avro', SCHEMA.text);
    const all = await Promise.all(Array.from({ length: 10 }, () => schema.resolve()));
    expect(all).toEqual(Array.from({ length: 10 }, () => registered));
    await schema.resolve();
    expect(registry.calls).toHaveLength(1);
  });

  it('is asked for again a second after it was not there', async () => {
    const { registry, clock, schema } = begin();
    const missing = { code: 'schema-unpublished' };
    await Promise.all(Array.from({ length: 10 }, () => expect(schema.resolve()).rejects.toMatchObject(missing)));
    registry.put(SUBJECT, 'avro', SCHEMA.text);
    clock.now += 999;
    await expect(schema.resolve()).rejects.toMatchObject(missing);
    expect(registry.calls).toHaveLength(1);
    clock.now += 1;
    await expect(schema.resolve()).resolves.toMatchObject({ version: 1 });
  });

  it('is asked for again at once after an outage', async () => {
    const { registry, schema } = begin();
    registry.put(SUBJECT, 'avro', SCHEMA.text);
    registry.before = () => Promise.reject(new Error('outage'));
    await expect(schema.resolve()).rejects.toThrow('outage');
    registry.before = () => undefined;
    await expect(schema.resolve()).resolves.toMatchObject({ version: 1 });
  });
});
