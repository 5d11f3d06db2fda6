import { type AnyContract, formatOf, type RegisteredFormat, subjectFor } from '../../contracts';
import { AppError } from '../../platform/errors';
import { avroFormat } from './avro-format';
import type { BodyFormat } from './body-format';
import { ChannelCodec } from './channel-codec';
import { type Codec, type Decoded, type Encapsulated, type Encoded, RegistryUnavailable, type Route } from './codec';
import { JsonCodec } from './json-codec';
import { jsonFormat } from './json-format';
import { protobufFormat } from './protobuf-format';
import { PublishedSchema } from './published-schema';
import type { SchemaRegistry } from './schema-registry';
import { TopicSchemas } from './topic-schemas';

const FORMATS: Readonly<Record<RegisteredFormat, (contract: AnyContract) => BodyFormat>> = {
  avro: avroFormat,
  protobuf: protobufFormat,
  'json-schema': jsonFormat,
};

/**
 * All formats of a contract. Without a registry only plain JSON is spoken; the others are then refused with
 * `registry-unconfigured` when written, and wait like in an outage when read, since no record is to blame.
 */
export function createCodec(registry: SchemaRegistry | undefined): Codec {
  return registry ? new RegistryCodec(registry) : new UnconfiguredCodec();
}

const plain = new JsonCodec();
const HINT = 'Name the registry in SCHEMA_REGISTRY_URLS, or let the channel speak json.';

class RegistryCodec implements Codec {
  private readonly formats = new Map<AnyContract, Partial<Record<RegisteredFormat, BodyFormat>>>();
  private readonly channels = new Map<AnyContract, Map<string, ChannelCodec>>();
  private readonly schemas: TopicSchemas;

  constructor(private readonly registry: SchemaRegistry) {
    this.schemas = new TopicSchemas(registry);
  }

  ready(contract: AnyContract, route: Route): Promise<void> {
    const format = formatOf(contract, route.format);
    return format === 'json' ? plain.ready() : this.channel(contract, route.topic, format).ready();
  }

  encode(contract: AnyContract, route: Route, value: unknown): Promise<Encoded> {
    const format = formatOf(contract, route.format);
    if (format === 'json') return plain.encode(contract, route, value);
    return this.channel(contract, route.topic, format).encode(value);
  }

  decode(contract: AnyContract, route: Route, record: Encapsulated): Promise<Decoded> {
    const format = formatOf(contract, route.format);
    if (format === 'json') return plain.decode(contract, route, record);
    return this.channel(contract, route.topic, format).decode(record);
  }

  private channel(contract: AnyContract, topic: string, format: RegisteredFormat): ChannelCodec {
    let topics = this.channels.get(contract);
    if (!topics) {
      topics = new Map<string, ChannelCodec>();
      this.channels.set(contract, topics);
    }
    // A topic speaks one format; where that is changed, what was compiled for the other one goes with it.
    const known = topics.get(topic);
    if (known?.format === format) return known;
    const made = this.make(contract, topic, format);
    topics.set(topic, made);
    return made;
  }

  private make(contract: AnyContract, topic: string, format: RegisteredFormat): ChannelCodec {
    let bodies = this.formats.get(contract);
    if (!bodies) this.formats.set(contract, (bodies = {}));
    const body = (bodies[format] ??= FORMATS[format](contract));
    const schema = { format, text: body.schemaText, references: [] };
    const published = new PublishedSchema(this.registry, subjectFor(contract, topic), schema, Date.now);
    return new ChannelCodec(contract, topic, body, published, this.schemas, this.registry);
  }
}

class UnconfiguredCodec implements Codec {
  ready(contract: AnyContract, route: Route): Promise<void> {
    return formatOf(contract, route.format) === 'json' ? plain.ready() : Promise.reject(unconfigured(route));
  }

  encode(contract: AnyContract, route: Route, value: unknown): Promise<Encoded> {
    if (formatOf(contract, route.format) === 'json') return plain.encode(contract, route, value);
    return Promise.reject(unconfigured(route));
  }

  decode(contract: AnyContract, route: Route, record: Encapsulated): Promise<Decoded> {
    if (formatOf(contract, route.format) === 'json') return plain.decode(contract, route, record);
    const { message, hint } = unconfigured(route);
    return Promise.reject(new RegistryUnavailable(message, hint === undefined ? {} : { hint }));
  }
}

const unconfigured = ({ topic, format }: Route) =>
  new AppError('registry-unconfigured', `${topic} speaks ${format}, and no schema registry is configured.`, {
    hint: HINT,
  });
