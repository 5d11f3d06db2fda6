import {
  createSchemaRegistry,
  resolveReferences,
  SchemaRefused,
  type SchemaReference,
  type SchemaRegistry,
} from '../../../src/messaging/registry';
import { type ReplayServer, startReplay } from './replay-server';

type Graph = Record<string, { to?: readonly string[]; text?: string; type?: string }>;

const reference = (subject: string): SchemaReference => ({ name: `n.${subject}`, subject, version: 1 });

describe('the references of a schema', () => {
  let server: ReplayServer;
  let registry: SchemaRegistry;
  let graph: Graph;
  beforeAll(async () => {
    server = await startReplay(({ line }) => {
      const node = graph[/^GET \/subjects\/([^/]+)\/versions\/1\?deleted=true$/.exec(line)?.[1] ?? ''];
      if (!node) return { status: 404, body: { error_code: 40401, message: 'not found' } };
      const { text = '"string"', type = 'AVRO', to = [] } = node;
      return { body: { version: 1, id: 1, schema: text, schemaType: type, references: to.map(reference) } };
    });
  });
  beforeEach(() => {
    registry = createSchemaRegistry({ schemaRegistryUrls: [server.url], schemaRegistryDeadlineMs: 10_000 });
    server.heard.length = 0;
  });
  afterEach(() => registry.close());
  afterAll(() => server.stop());

  async function resolve(of: Graph, ...from: string[]): Promise<string[]> {
    graph = of;
    const schema = { format: 'avro' as const, text: '"string"', references: from.map(reference) };
    return (await resolveReferences(registry, schema)).map(({ name }) => name);
  }

  it('are resolved each once, after those that they need themselves', async () => {
    const diamond = { a: { to: ['c'] }, b: { to: ['c'] }, c: { to: ['d'] }, d: {} };
    expect(await resolve(diamond, 'a', 'b')).toEqual(['n.d', 'n.c', 'n.a', 'n.b']);
    expect(server.heard).toHaveLength(4);
  });

  it.each<[string, Graph, RegExp]>([
    ['a circle', { a: { to: ['b'] }, b: { to: ['a'] } }, /refers to itself/],
    ['itself', { a: { to: ['a'] } }, /refers to itself/],
    ['what the registry lacks', { a: { to: ['gone'] } }, /the registry lacks/],
    ['another format', { a: { type: 'JSON', text: '{}' } }, /another format/],
    ['more than eight levels', chain(9), /deeper than 8/],
    ['more than fifty schemas', fan(50), /more than 50/],
    ['more than two mebibytes', fan(3, `"${'x'.repeat(900_000)}"`), /bytes/],
  ])('to %s are refused, which is no outage', async (_, of, reason) => {
    const resolved = resolve(of, Object.keys(of)[0] ?? '');
    await expect(resolved).rejects.toBeInstanceOf(SchemaRefused);
    await expect(resolved).rejects.toThrow(reason);
  });

  it('are followed to the bounds', async () => {
    expect(await resolve(chain(8), 'a')).toHaveLength(8);
    expect(await resolve(fan(49), 'z')).toHaveLength(50);
  });

  it('can not be resolved while the registry is away', async () => {
    const { answering } = server;
    server.answering = () => ({ status: 503 });
    try {
      await expect(resolve({}, 'a')).rejects.toMatchObject({ code: 'registry-unavailable' });
    } finally {
      server.answering = answering;
    }
  });
});

/** a → c1 → c2 …, `length` in all. */
function chain(length: number): Graph {
  const names = ['a', ...Array.from({ length: length - 1 }, (_, index) => `c${index}`)];
  return Object.fromEntries(names.map((name, index) => [name, { to: names.slice(index + 1, index + 2) }]));
}

/** z → f0, f1, … */
function fan(width: number, text?: string): Graph {
  const names = Array.from({ length: width }, (_, index) => `f${index}`);
  return { z: { to: names }, ...Object.fromEntries(names.map((name) => [name, text ? { text } : {}])) };
}
