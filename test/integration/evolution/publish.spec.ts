import { startRegistry, type RegistryServer } from '../../../scripts/servers/index.mjs';
import { despatchAdvice, orderRequest, orderResponse } from '../../../src/contracts';
import { planOf, publish, type Subject, subjectsAsPlanned, survey } from '../../../src/messaging/evolution';
import type { SchemaRegistry } from '../../../src/messaging/registry';
import { uniqueName } from '../../support/kafka';
import { registerSchema } from '../../support/registry';
import { behind, client, levelOf, subjectOf, subjectWith } from './harness';

let server: RegistryServer;
let registry: SchemaRegistry;

beforeAll(async () => {
  server = await startRegistry();
  registry = client(server.url);
});
afterAll(async () => {
  await registry?.close();
  await server?.stop();
});

const subjects = async (): Promise<string[]> => (await fetch(`${server.url}/subjects`)).json() as Promise<string[]>;
const plan = async (...wanted: Subject[]) => planOf(await survey(registry, wanted, []));
const avro = (...fields: unknown[]) =>
  JSON.stringify({ type: 'record', name: 'OrderResponse', namespace: 'parley.v1', fields });
const ID = { name: 'id', type: 'string' };

describe('publishing', () => {
  it.each([
    ['avro', 'FULL_TRANSITIVE'],
    ['protobuf', 'NONE'],
    ['json-schema', 'NONE'],
  ] as const)('registers all documents of a partner in %s once, and sets the level %s', async (format, level) => {
    const partner = uniqueName('acme');
    const wanted = subjectsAsPlanned([partner], format);
    expect(wanted.length).toBeGreaterThan(1);
    const first = await publish(registry, await plan(...wanted));
    expect(first.map(({ result, version }) => [result, version])).toEqual(wanted.map(() => ['registered', 1]));
    for (const { name } of wanted) expect(await levelOf(server.url, name)).toBe(level);
    const again = await plan(...wanted);
    expect(again.map(({ action }) => action)).toEqual(wanted.map(() => 'unchanged'));
    expect((await publish(registry, again)).map(({ result }) => result)).toEqual(wanted.map(() => 'unchanged'));
    for (const { name } of wanted) expect(await registry.versions(name)).toHaveLength(1);
  });

  it('registers a compatible change as the next version', async () => {
    const subject = subjectWith(
      uniqueName('acme'),
      orderResponse,
      'avro',
      avro(ID, { name: 'n', type: 'int', default: 0 }),
    );
    await registerSchema(server.url, subject.name, { schema: avro(ID) });
    expect(await publish(registry, await plan(subject))).toMatchObject([
      { action: 'next-version', result: 'registered', version: 2 },
    ]);
  });

  it('lets a Protobuf message lose a field orderly where the registry, by a level that somebody set, would not', async () => {
    const text = (fields: string) =>
      `syntax = "proto3";\npackage parley.v1;\n\nmessage OrderResponse {\n  string id = 1;\n${fields}}\n`;
    const partner = uniqueName('acme');
    const [then, now] = ['  optional string two = 2;\n', '  reserved 2; reserved "two";\n'].map((fields) =>
      subjectWith(partner, orderResponse, 'protobuf', text(fields)),
    );
    if (!then || !now) throw new Error('no subjects');
    await publish(registry, await plan(then));
    await registry.setCompatibility(now.name, 'FULL_TRANSITIVE');
    expect((await registry.judge(now.name, now.schema)).compatible).toBe(false);
    expect(await publish(registry, await plan(now))).toMatchObject([{ result: 'registered', version: 2 }]);
  });

  it('leaves a text that stands as an older version where it is', async () => {
    const subject = subjectWith(uniqueName('acme'), orderResponse, 'avro', avro(ID));
    await registerSchema(server.url, subject.name, { schema: avro(ID) });
    await registerSchema(server.url, subject.name, { schema: avro(ID, { name: 'n', type: 'int', default: 0 }) });
    expect(await publish(registry, await plan(subject))).toMatchObject([{ result: 'unchanged' }]);
    expect(await registry.versions(subject.name)).toHaveLength(2);
  });

  it('sets the level again where somebody changed it', async () => {
    const subject = subjectOf(uniqueName('acme'), orderRequest, 'avro');
    await publish(registry, await plan(subject));
    await registry.setCompatibility(subject.name, 'NONE');
    await publish(registry, await plan(subject));
    expect(await levelOf(server.url, subject.name)).toBe('FULL_TRANSITIVE');
  });

  it('sets the level behind the first version where a registry takes none for a subject that it does not know', async () => {
    const subject = subjectOf(uniqueName('acme'), orderRequest, 'avro');
    const path = `/config/${encodeURIComponent(subject.name)}`;
    let asked = 0;
    const proxy = await behind(server.url, async ({ url }) => (url === path && ++asked === 1 ? 404 : undefined));
    const strict = client(proxy.url);
    try {
      expect(await publish(strict, await plan(subject))).toMatchObject([{ result: 'registered' }]);
    } finally {
      await strict.close();
      proxy.close();
    }
    expect(await levelOf(server.url, subject.name)).toBe('FULL_TRANSITIVE');
  });

  it('has no plan at all where one of many schemas breaks', async () => {
    const partner = uniqueName('acme');
    const fine = subjectOf(partner, orderRequest, 'avro');
    const broken = subjectWith(partner, orderResponse, 'avro', avro({ name: 'id', type: 'int' }));
    await registerSchema(server.url, broken.name, { schema: avro(ID) });
    await expect(plan(fine, broken)).rejects.toMatchObject({ code: 'schema-breaks', retriable: false });
    expect(await subjects()).not.toContain(fine.name);
  });

  it('does not register beside a version that came after the plan was made', async () => {
    const subject = subjectWith(
      uniqueName('acme'),
      orderResponse,
      'json-schema',
      '{"type":"object","properties":{"a":{"type":"string"}}}',
    );
    const made = await plan(subject);
    const theirs = '{"type":"object","properties":{"a":{"type":"integer"}}}';
    await registerSchema(server.url, subject.name, { schema: theirs, schemaType: 'JSON' });
    expect(await publish(registry, made)).toMatchObject([{ result: 'plan-changed' }]);
    expect(await registry.versions(subject.name)).toHaveLength(1);
  });

  it('goes on behind a schema that the registry refuses, and again does the rest', async () => {
    const partner = uniqueName('acme');
    // Its level goes before it, so that the registry looks: a name may not begin with a digit.
    const refused = subjectWith(partner, orderResponse, 'avro', avro({ name: '1d', type: 'string' }));
    const fine = subjectOf(partner, despatchAdvice, 'avro');
    const outcomes = await publish(registry, await plan(refused, fine));
    expect(outcomes).toMatchObject([{ result: 'failed' }, { result: 'registered' }]);
    expect(outcomes[0]?.reason).toMatch(/^The schema registry refuses POST/);
    const mended = subjectOf(partner, orderResponse, 'avro');
    expect(await publish(registry, await plan(mended, fine))).toMatchObject([
      { result: 'registered' },
      { result: 'unchanged' },
    ]);
  });

  it('ends at an outage without trying the rest, and goes on afterwards', async () => {
    const wanted = subjectsAsPlanned([uniqueName('acme')], 'avro').slice(0, 3);
    const made = await plan(...wanted);
    await server.kill();
    try {
      const outcomes = await publish(registry, made);
      expect(outcomes.map(({ result }) => result)).toEqual(['failed', 'not-tried', 'not-tried']);
      expect(outcomes[0]?.reason).toMatch(/can't be reached/);
    } finally {
      await server.restart();
    }
    expect((await publish(registry, await plan(...wanted))).map(({ result }) => result)).toEqual(
      wanted.map(() => 'registered'),
    );
  });
});
