import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RegistryServer, startRegistry } from '../../../scripts/servers/index.mjs';
import { registerSchema, testRegistry, uniqueSubject } from '../../support/registry';

const AVRO = JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'number', type: 'string' }] });
const PROTO = 'syntax = "proto3";\n\nmessage Order {\n  string number = 1;\n}\n';
const JSON_SCHEMA = JSON.stringify({ type: 'object', properties: { number: { type: 'string' } } });

const read = async (url: string): Promise<unknown> => (await fetch(url)).json();

describe('the schema registry of a spec file', () => {
  let url: string;
  beforeAll(async () => {
    url = await testRegistry();
  });

  it.each([
    ['AVRO', AVRO],
    ['PROTOBUF', PROTO],
    ['JSON', JSON_SCHEMA],
  ] as const)('gives back the %s schema that was registered, letter for letter', async (schemaType, schema) => {
    const subject = uniqueSubject('order');
    const id = await registerSchema(url, subject, { schema, schemaType });
    expect(await read(`${url}/schemas/ids/${id}`)).toMatchObject({ schema });
    expect(await read(`${url}/subjects/${subject}/versions`)).toEqual([1]);
    expect(await read(`${url}/subjects`)).toContain(subject);
  });

  it('resolves a schema that refers to another', async () => {
    const order = uniqueSubject('order');
    await registerSchema(url, order, { schema: AVRO });
    const envelope = { type: 'record', name: 'Envelope', fields: [{ name: 'order', type: 'Order' }] };
    const references = [{ name: 'Order', subject: order, version: 1 }];
    const id = await registerSchema(url, uniqueSubject('envelope'), { schema: JSON.stringify(envelope), references });
    expect(await read(`${url}/schemas/ids/${id}`)).toMatchObject({ references });
  });

  it('says why a schema is not registered', async () => {
    const refused = registerSchema(url, uniqueSubject('order'), { schema: '{' });
    await expect(refused).rejects.toThrow(/is not registered: HTTP 422/);
  });

  it('is the same for everybody who asks', async () => {
    expect(await testRegistry()).toBe(url);
  });
});

describe('a schema registry', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-registry-spec-'));
  const dataDir = join(folder, 'kept');
  let registry: RegistryServer;
  beforeAll(async () => {
    registry = await startRegistry({ dataDir });
  });
  afterAll(async () => {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps, killed right after its answer, what it has answered, and comes back on its port', async () => {
    const outage = await startRegistry();
    try {
      const { url, pid } = outage;
      const id = await registerSchema(url, 'killed', { schema: AVRO });
      await outage.kill();
      await expect(fetch(`${url}/subjects`)).rejects.toThrow();
      await outage.restart();
      expect([outage.url, outage.pid === pid]).toEqual([url, false]);
      expect(await read(`${url}/schemas/ids/${id}`)).toMatchObject({ schema: AVRO });
    } finally {
      await outage.stop();
    }
  });

  it('keeps its schemas, given a folder, over a stop', async () => {
    const id = await registerSchema(registry.url, 'stopped', { schema: JSON_SCHEMA, schemaType: 'JSON' });
    await registry.stop();
    registry = await startRegistry({ dataDir });
    expect(await read(`${registry.url}/schemas/ids/${id}`)).toMatchObject({ schema: JSON_SCHEMA });
  });

  it('answers to this machine alone', async () => {
    await expect(fetch(`http://127.0.0.2:${registry.port}/apis`)).rejects.toThrow();
  });

  it('names the port that is taken', async () => {
    await expect(startRegistry({ port: registry.port })).rejects.toThrow(`port ${registry.port} is taken`);
  });

  it('refuses a folder on which another one runs', async () => {
    await expect(startRegistry({ dataDir })).rejects.toThrow(`The data folder ${dataDir} is in use.`);
  });
});
