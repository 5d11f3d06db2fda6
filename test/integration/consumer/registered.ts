import { readFileSync } from 'node:fs';
import { Producer } from '@platformatic/kafka';
import { Type } from 'avsc';
import {
  type AnyContract,
  despatchAdvice,
  errorReport,
  orderResponse,
  type RegisteredFormat,
  schemaFileOf,
  subjectFor,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import { createProcessor } from '../../../src/messaging/consumer';
import { createBatchSource } from '../../../src/messaging/kafka';
import { Outbox } from '../../../src/messaging/outbox';
import { createCodec, createSchemaRegistry, type SchemaRegistry } from '../../../src/messaging/registry';
import { testConfig } from '../../support/config';
import { createTopic, produce, type RecordToProduce, uniqueName } from '../../support/kafka';
import { registerSchema, type SchemaType } from '../../support/registry';
import { addChannel, type Decide, handler, LIMITS, logger, type World } from './harness';

const SCHEMA_TYPES: Readonly<Record<RegisteredFormat, SchemaType>> = {
  avro: 'AVRO',
  protobuf: 'PROTOBUF',
  'json-schema': 'JSON',
};

export type Compression = 'gzip' | 'snappy' | 'lz4' | 'zstd';

export const published = (contract: AnyContract, format: RegisteredFormat): string =>
  readFileSync(schemaFileOf(contract, format), 'utf8');

/** Confluent's wire format, made by hand. */
export function framed(id: number, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeInt32BE(id, 1);
  return Buffer.concat([head, body]);
}

/** A partner with its topics on the broker and its schemas in the registry; it writes with libraries that are not ours. */
export class RegisteredPartner {
  readonly id = uniqueName('acme');
  readonly responses = topicFor(orderResponse, this.id);
  readonly advices = topicFor(despatchAdvice, this.id);
  readonly errors = topicFor(errorReport, this.id);
  private sent = 0;

  private constructor(
    private readonly registryUrl: string,
    readonly format: RegisteredFormat,
  ) {}

  static async of(world: World, registryUrl: string, format: RegisteredFormat): Promise<RegisteredPartner> {
    const partner = new RegisteredPartner(registryUrl, format);
    await world.database.query(`INSERT INTO partner (id, name, created_at) VALUES (:id, :id, now())`, {
      id: partner.id,
    });
    for (const topic of [partner.responses, partner.advices])
      await addChannel(world, partner.id, { topic, format, partitions: 1 });
    await addChannel(world, partner.id, { topic: partner.errors, direction: 'out', partitions: 1 });
    for (const topic of [partner.responses, partner.advices, partner.errors]) await createTopic(topic, { exact: true });
    return partner;
  }

  /** The next version of the document's schema: the published text, unless another is given. Returns its id. */
  register(contract: AnyContract, schema = published(contract, this.format)): Promise<number> {
    const subject = subjectFor(contract, topicFor(contract, this.id));
    return registerSchema(this.registryUrl, subject, { schema, schemaType: SCHEMA_TYPES[this.format] });
  }

  record(contract: AnyContract, key: string, value: Buffer | null): RecordToProduce {
    const headers = { ce_specversion: '1.0', ce_type: typeOf(contract), ce_id: `${this.id}-${++this.sent}` };
    return { key, value, headers };
  }

  async write(contract: AnyContract, key: string, value: Buffer | null): Promise<void> {
    await produce(topicFor(contract, this.id), [this.record(contract, key, value)]);
  }

  async writePacked(
    contract: AnyContract,
    compression: Compression,
    values: readonly [string, Buffer][],
  ): Promise<void> {
    const bootstrapBrokers = (process.env['TEST_KAFKA_BROKERS'] ?? '').split(',');
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'partner', bootstrapBrokers });
    const messages = values.map(([key, value]) => {
      const { headers = {} } = this.record(contract, key, value);
      const pairs = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const);
      return { topic: topicFor(contract, this.id), key: Buffer.from(key), value, headers: new Map(pairs) };
    });
    await producer.send({ acks: -1, compression, messages }).finally(() => producer.close());
  }
}

/** Bytes of a value under an Avro schema, by avsc as a partner uses it. */
export const avroBytes = (schema: string, value: unknown): Buffer =>
  Type.forSchema(JSON.parse(schema) as Parameters<typeof Type.forSchema>[0], { wrapUnions: false }).toBuffer(value);

/** What of a consumer process there is behind the fetch, on the real broker. */
export function consume(world: World, registry: SchemaRegistry, decide?: Decide, more: Partial<typeof LIMITS> = {}) {
  const { database, channels } = world;
  const codec = createCodec(registry);
  const outbox = new Outbox(channels, codec);
  const contracts = [orderResponse, despatchAdvice];
  const config = { ...LIMITS, ...more };
  const processor = createProcessor({ config, database, channels, codec, outbox, logger, contracts }, handler(decide));
  const source = createBatchSource(testConfig(world.url), logger, {
    groupId: uniqueName('group'),
    topics: channels.inbound().map(({ topic }) => topic),
    onBatch: (batch) => processor.process(batch),
    onFatal: (error) => {
      throw error;
    },
    timing: { probe: 300, maxWait: 100 },
  });
  source.start();
  return {
    processor,
    source,
    close: async () => {
      await Promise.all([source.close(), processor.close()]);
      await registry.close();
    },
  };
}

/** The registry as a process is configured for it, and the subjects whose versions it was asked for. */
export function countingRegistry(url: string): SchemaRegistry & { listings: string[] } {
  const registry = createSchemaRegistry({ schemaRegistryUrls: [url], schemaRegistryDeadlineMs: 3000 });
  const counting = Object.create(registry) as SchemaRegistry & { listings: string[] };
  counting.listings = [];
  counting.versions = (subject) => {
    counting.listings.push(subject);
    return registry.versions(subject);
  };
  return counting;
}
