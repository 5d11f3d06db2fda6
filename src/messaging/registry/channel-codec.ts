import { type AnyContract, type RegisteredFormat, subjectFor } from '../../contracts';
import { messageOf } from '../../platform/errors';
import type { BodyFormat, BodyReader } from './body-format';
import { type Decoded, type Encapsulated, type Encoded, RegistryUnavailable } from './codec';
import { checkWritten, type Rules, rulesOf } from './document-rules';
import { Malformed, SchemaMismatch } from './malformed';
import type { PublishedSchema } from './published-schema';
import { resolveReferences } from './references';
import type { RegisteredSchema, SchemaRegistry } from './schema-registry';
import { SchemaRefused } from './schema-text';
import type { TopicSchemas } from './topic-schemas';
import { type Frame, frameOf, readFrame } from './wire-format';

/** How to read what was written under one schema; or that it can't be read. */
interface Reader {
  schemaId: number;
  read: BodyReader | SchemaMismatch;
}

/** What every document of ours here begins with, and what its header says. */
interface Written {
  frame: Buffer;
  dataSchema: string;
}

/** One contract on one topic in one registered format: what is looked up and compiled for it once. */
export class ChannelCodec {
  /** By id, and by UUID where a record named that. */
  private readonly readers = new Map<number | string, Reader>();
  private readonly compiling = new Map<number, Promise<Reader>>();
  private readonly subjects: string[];
  private readonly rules: Rules;
  private written: Written | undefined;

  constructor(
    private readonly contract: AnyContract,
    private readonly topic: string,
    private readonly body: BodyFormat,
    private readonly published: PublishedSchema,
    private readonly schemas: TopicSchemas,
    private readonly registry: SchemaRegistry,
  ) {
    this.rules = rulesOf(contract);
    // The second is the default of Confluent's clients, which know nothing of several documents on a topic.
    this.subjects = [subjectFor(contract, topic), `${topic}-value`];
  }

  get format(): RegisteredFormat {
    return this.body.format;
  }

  async ready(): Promise<void> {
    await this.resolve();
  }

  /** Waits for nothing once the schema is known. */
  async encode(value: unknown): Promise<Encoded> {
    checkWritten(this.contract, value);
    const { frame, dataSchema } = this.written ?? (await this.resolve());
    return { payload: this.body.encode(frame, value), contentType: this.body.contentType, dataSchema };
  }

  private async resolve(): Promise<Written> {
    return (this.written ??= writtenUnder(await this.published.resolve(), this.body.withIndexes));
  }

  /** Waits for nothing once the record's schema is known. */
  async decode(record: Encapsulated): Promise<Decoded> {
    let frame: Frame;
    try {
      frame = readFrame(record.value, record.headers, this.body.withIndexes);
    } catch (error) {
      return this.refused(error);
    }
    const reader = this.readers.get(frame.schema);
    return reader ? this.read(reader, frame, record.value) : this.decodeUnknown(frame, record);
  }

  private async decodeUnknown(frame: Frame, { value, seenAt }: Encapsulated): Promise<Decoded> {
    const schema = await this.schemas.find(this.topic, this.subjects, frame.schema, seenAt ?? Date.now());
    if (!schema) {
      const detail = `the schema id ${frame.schema} is none of ${this.subjects.join(' or ')}`;
      return { ok: false, error: { code: 'schema-unknown', detail } };
    }
    const reader = this.readers.get(schema.id) ?? (await this.compile(schema));
    this.readers.set(frame.schema, reader);
    return this.read(reader, frame, value);
  }

  /** Once a schema, however many records wait for it. */
  private compile(schema: RegisteredSchema): Promise<Reader> {
    const running = this.compiling.get(schema.id);
    if (running) return running;
    const compiling = this.compiled(schema)
      .then((reader) => {
        this.readers.set(schema.id, reader);
        return reader;
      })
      .finally(() => this.compiling.delete(schema.id));
    this.compiling.set(schema.id, compiling);
    return compiling;
  }

  private async compiled(schema: RegisteredSchema): Promise<Reader> {
    const schemaId = schema.id;
    if (schema.format !== this.body.format) {
      const read = new SchemaMismatch(`${NAMES[schema.format]} where this channel speaks ${NAMES[this.body.format]}`);
      return { schemaId, read };
    }
    try {
      const references = await resolveReferences(this.registry, schema);
      const sources = references.map(({ name, schema: { text } }) => ({ name, text }));
      return { schemaId, read: this.body.reader(schema, sources) };
    } catch (error) {
      if (error instanceof SchemaMismatch) return { schemaId, read: error };
      if (error instanceof SchemaRefused) return { schemaId, read: new SchemaMismatch(error.message) };
      if (error instanceof RegistryUnavailable) throw error;
      // Such as credentials that the registry does not take: nothing that the record could help.
      throw new RegistryUnavailable(messageOf(error), { cause: error });
    }
  }

  private read({ schemaId, read }: Reader, { bodyAt, indexes }: Frame, value: Buffer): Decoded {
    if (read instanceof SchemaMismatch) return this.refused(read, schemaId);
    let document: unknown;
    try {
      document = read(value, bodyAt, indexes);
    } catch (error) {
      return this.refused(error, schemaId);
    }
    const violation = this.rules(document);
    return violation
      ? { ok: false, error: { code: 'invalid', ...violation }, broken: document, schemaId }
      : { ok: true, value: document, schemaId };
  }

  private refused(error: unknown, schemaId?: number): Decoded & { ok: false } {
    const named = schemaId === undefined ? {} : { schemaId };
    if (error instanceof Malformed) {
      const detail = `not ${NAMES[this.body.format]}: ${error.message}`;
      return { ok: false, error: { code: 'undecodable', detail }, ...named };
    }
    if (!(error instanceof SchemaMismatch)) throw error;
    return { ok: false, error: { code: 'schema-mismatch', detail: `schema ${schemaId}: ${error.message}` }, ...named };
  }
}

const NAMES: Readonly<Record<RegisteredFormat, string>> = {
  avro: 'Avro',
  protobuf: 'Protobuf',
  'json-schema': 'JSON with a schema id',
};

/**
 * `ce_dataschema` has to be an absolute URI (CloudEvents 1.0), and our registry's address is nobody's business: a name, whose
 * last part is the path under every base URL of the registry's API.
 */
function writtenUnder({ id, subject, version }: RegisteredSchema, withIndexes: boolean): Written {
  const dataSchema = `urn:parley:subjects/${encodeURIComponent(subject)}/versions/${version}`;
  return { frame: frameOf(id, withIndexes), dataSchema };
}
