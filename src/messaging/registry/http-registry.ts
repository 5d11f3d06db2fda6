import { NonRetriableError } from '../../platform/errors';
import { RegistryUnavailable } from './codec';
import { Lru } from './lru';
import {
  readId,
  readLevel,
  readPlace,
  readSchema,
  readVerdict,
  readVersions,
  schemaTypeOf,
  UnsoundAnswer,
} from './registry-answer';
import { RegistryHttp } from './registry-http';
import type { RegistrySettings } from './registry-settings';
import type { CompatibilityLevel, RegisteredSchema, SchemaRegistry, SchemaText } from './schema-registry';
import { MAX_SCHEMA_BYTES, SchemaRefused } from './schema-text';

/** Of one subject the newest versions are read: whoever may register schemas decides how many there are. */
const MAX_VERSIONS = 1000;
const MAX_SUBJECT_BYTES = 16 * MAX_SCHEMA_BYTES;
/** Characters of all schemas in memory. */
const CACHE_SIZE = 64 * MAX_SCHEMA_BYTES;
const AT_ONCE = 8;
/** A long first listing ends here and goes on with the next call, for what was read is kept. */
const LISTING_MS = 30_000;

/** A client of Confluent's registry API. Throws a NonRetriableError without a URL, or for a CA file that can't be read. */
export function createSchemaRegistry(settings: RegistrySettings): SchemaRegistry {
  if (settings.schemaRegistryUrls.length === 0) {
    throw new NonRetriableError('registry-unconfigured', 'No schema registry is configured.', {
      hint: 'Set SCHEMA_REGISTRY_URLS.',
    });
  }
  return new HttpRegistry(new RegistryHttp(settings));
}

class HttpRegistry implements SchemaRegistry {
  private readonly cache = new Lru<string, RegisteredSchema>(CACHE_SIZE, ({ text }) => text.length + 200);

  constructor(private readonly http: RegistryHttp) {}

  get trouble(): string | undefined {
    return this.http.trouble;
  }

  close(): Promise<void> {
    return this.http.close();
  }

  async versions(subject: string, onRefused?: (error: SchemaRefused) => void): Promise<RegisteredSchema[]> {
    const until = performance.now() + LISTING_MS;
    const path = `/subjects/${encodeURIComponent(subject)}/versions?deleted=true`;
    const numbers = (await this.http.ask({ method: 'GET', path, read: readVersions })) ?? [];
    await this.forgetRemade(subject, numbers);
    const refuse = (error: SchemaRefused): void => {
      if (!onRefused) throw error;
      onRefused(error);
    };
    if (numbers.length > MAX_VERSIONS) {
      refuse(new SchemaRefused(`${subject} has ${numbers.length} versions; the newest ${MAX_VERSIONS} are read.`));
    }
    const wanted = numbers.slice(-MAX_VERSIONS).reverse();
    const found: RegisteredSchema[] = [];
    let size = 0;
    while (wanted.length > 0) {
      if (performance.now() > until)
        throw new RegistryUnavailable(`The schema registry takes long to list ${subject}.`);
      const some = await Promise.all(wanted.splice(0, AT_ONCE).map((number) => this.readable(subject, number, refuse)));
      for (const schema of some) {
        size += schema?.text.length ?? 0;
        if (schema && size <= MAX_SUBJECT_BYTES) found.push(schema);
      }
      if (size <= MAX_SUBJECT_BYTES) continue;
      refuse(new SchemaRefused(`${subject} has more than ${MAX_SUBJECT_BYTES} bytes; its newest versions are read.`));
      break;
    }
    return found.reverse();
  }

  async version(subject: string, version: number): Promise<RegisteredSchema | undefined> {
    return this.cache.get(keyOf(subject, version)) ?? (await this.fetch(subject, version));
  }

  async lookup(subject: string, schema: SchemaText): Promise<RegisteredSchema | undefined> {
    const place = await this.http.ask({
      method: 'POST',
      path: `/subjects/${encodeURIComponent(subject)}`,
      body: bodyOf(schema),
      read: readPlace,
    });
    return place && { ...place, subject, format: schema.format, text: schema.text, references: schema.references };
  }

  async judge(subject: string, schema: SchemaText): Promise<{ compatible: boolean; reasons: string[] }> {
    const verdict = await this.http.ask({
      method: 'POST',
      path: `/compatibility/subjects/${encodeURIComponent(subject)}/versions?verbose=true`,
      body: bodyOf(schema),
      read: readVerdict,
    });
    return verdict ?? { compatible: true, reasons: [] };
  }

  async register(subject: string, schema: SchemaText): Promise<RegisteredSchema> {
    const path = `/subjects/${encodeURIComponent(subject)}/versions`;
    const id = await this.http.ask({ method: 'POST', path, body: bodyOf(schema), read: readId });
    // Most registries answer with the id alone.
    const registered = id === undefined ? undefined : await this.lookup(subject, schema);
    if (registered) return registered;
    throw new RegistryUnavailable(`The schema registry took a schema for ${subject} and does not find it.`);
  }

  async setCompatibility(subject: string, level: CompatibilityLevel): Promise<void> {
    const set = await this.http.ask({
      method: 'PUT',
      path: `/config/${encodeURIComponent(subject)}`,
      body: { compatibility: level },
      read: (answer) => {
        const now = readLevel(answer);
        if (now !== level) throw new UnsoundAnswer('it names another level than was set');
        return now;
      },
    });
    if (set !== undefined) return;
    throw new NonRetriableError('registry-refused', `The schema registry has no ${subject} to set a level for.`, {
      hint: 'Some registries take the level NONE only after the first version: register it, then set the level.',
    });
  }

  private async fetch(subject: string, version: number): Promise<RegisteredSchema | undefined> {
    const schema = await this.http.ask({
      method: 'GET',
      path: `/subjects/${encodeURIComponent(subject)}/versions/${version}?deleted=true`,
      read: (answer) => readSchema(answer, subject, version),
      oversized: () => new SchemaRefused(`Version ${version} of ${subject} is too large.`),
    });
    if (schema) this.cache.set(keyOf(subject, version), schema);
    return schema;
  }

  private async readable(
    subject: string,
    version: number,
    refuse: (error: SchemaRefused) => void,
  ): Promise<RegisteredSchema | undefined> {
    try {
      return await this.version(subject, version);
    } catch (error) {
      if (!(error instanceof SchemaRefused)) throw error;
      refuse(error);
      return undefined;
    }
  }

  /**
   * A version never changes, but a subject that was deleted for good and made anew counts from 1 again. So the newest version
   * that is known is read once more; when its id is another, nothing that is known of the subject holds.
   */
  private async forgetRemade(subject: string, numbers: readonly number[]): Promise<void> {
    const newest = numbers.findLast((number) => this.cache.has(keyOf(subject, number)));
    if (newest === undefined) return;
    const known = this.cache.get(keyOf(subject, newest));
    const now = await this.fetch(subject, newest).catch((error: unknown) => {
      if (error instanceof SchemaRefused) return undefined;
      throw error;
    });
    if (now?.id === known?.id) return;
    for (const number of numbers) if (number !== newest || !now) this.cache.delete(keyOf(subject, number));
  }
}

const keyOf = (subject: string, version: number): string => `${version} ${subject}`;

const bodyOf = ({ format, text, references }: SchemaText): object => ({
  schema: text,
  schemaType: schemaTypeOf(format),
  references,
});
