import { startRegistry } from '../../scripts/servers/index.mjs';
import { uniqueName } from './kafka';

export type SchemaType = 'AVRO' | 'PROTOBUF' | 'JSON';

export interface SchemaReference {
  /** As the schema's text names it. */
  name: string;
  subject: string;
  version: number;
}

export interface SchemaToRegister {
  schema: string;
  /** Default AVRO. */
  schemaType?: SchemaType;
  references?: readonly SchemaReference[];
}

// On a new machine the first call also fetches the registry and prepares it: 15 s alone, several times that beside others.
jest.setTimeout(180_000);

let own: Promise<string> | undefined;

/**
 * Base URL of a schema registry: the one named in TEST_REGISTRY_URL, else one that starts with the first call (2 s), is
 * shared by all calls of a spec file and stops after its last test. Call it in `beforeAll` of the file's top level.
 */
export function testRegistry(): Promise<string> {
  const given = process.env['TEST_REGISTRY_URL'];
  if (given) return Promise.resolve(given);
  return (own ??= start());
}

let stop: (() => Promise<void>) | undefined;

async function start(): Promise<string> {
  const registry = await startRegistry();
  stop = () => registry.stop();
  return registry.url;
}

afterAll(() => stop?.());

/** A subject that no other test uses. */
export const uniqueSubject = (stem: string): string => `${uniqueName(stem)}-value`;

/** Registers a schema as the next version of a subject, and returns its id. */
export async function registerSchema(url: string, subject: string, schema: SchemaToRegister): Promise<number> {
  const response = await fetch(`${url}/subjects/${encodeURIComponent(subject)}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify(schema),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${subject} is not registered: HTTP ${response.status} ${text}`);
  return (JSON.parse(text) as { id: number }).id;
}
