import { readFileSync } from 'node:fs';
import {
  CONTRACTS,
  contractsFor,
  orderRequest,
  orderResponse,
  type RawHeaders,
  type RegisteredFormat,
  schemaFileOf,
  subjectFor,
  topicFor,
} from '../../../src/contracts';
import { createCodec, createSchemaRegistry } from '../../../src/messaging/registry';
import { eventually } from '../../support/eventually';
import { ownWire } from '../../support/faults';
import { produce, readAll, uniqueName } from '../../support/kafka';
import { registerSchema, type SchemaType, testRegistry } from '../../support/registry';
import { documentFor, recordFor, start, topicsOf } from './fixture';

/** What a registry has to know of a partner. */
const OF_A_PARTNER = contractsFor(CONTRACTS, 'acme').filter(({ format }) => format === undefined);
describe('a partner that speaks a registered format', () => {
  const TYPES: Readonly<Record<RegisteredFormat, SchemaType>> = {
    avro: 'AVRO',
    protobuf: 'PROTOBUF',
    'json-schema': 'JSON',
  };
  async function publishSchemas(id: string, format: RegisteredFormat): Promise<void> {
    const url = await testRegistry();
    for (const contract of OF_A_PARTNER) {
      const schema = readFileSync(schemaFileOf(contract, format), 'utf8');
      const subject = subjectFor(contract, topicFor(contract, id));
      await registerSchema(url, subject, { schema, schemaType: TYPES[format] });
    }
  }

  it.each(['avro', 'protobuf', 'json-schema'] as const)(
    'waits until its schemas are published, then answers in %s',
    async (format) => {
      const url = await testRegistry();
      const id = uniqueName('acme');
      const { requests, responses } = await topicsOf(id);
      const registry = { schemaRegistryUrls: [url], schemaRegistryDeadlineMs: 30_000 };
      const log: string[] = [];
      const partner = start(id, { parties: [{ id, format }], registry }, (text) => log.push(text));
      await eventually(() => log.some((text) => text.includes('parley contracts publish')));
      await publishSchemas(id, format);
      const ours = createSchemaRegistry(registry);
      try {
        const codec = createCodec(ours);
        const { payload } = await codec.encode(orderRequest, { topic: requests, format }, documentFor('A-1'));
        await produce(requests, [recordFor(orderRequest, 'A-1', payload, 'request-1')]);
        await eventually(() => partner.statistics.answered === 1);
        const [record] = await readAll(responses);
        const { value, headers } = record ?? { value: null, headers: {} };
        const decoded = await codec.decode(
          orderResponse,
          { topic: responses, format },
          { value: value ?? Buffer.alloc(0), headers: headers as RawHeaders },
        );
        expect(decoded).toMatchObject({ ok: true, value: { orderNumber: 'A-1', responseCode: 'AP' } });
      } finally {
        await ours.close();
      }
    },
  );

  it('stops also while it waits for its registry, whatever that says then', async () => {
    const url = new URL(await testRegistry());
    const wire = await ownWire({ host: url.hostname, port: Number(url.port) });
    [url.hostname, url.port] = ['127.0.0.1', String(wire.port)];
    const id = uniqueName('acme');
    await topicsOf(id);
    await publishSchemas(id, 'avro');
    wire.delay(1000);
    const registry = { schemaRegistryUrls: [url.href], schemaRegistryDeadlineMs: 30_000 };
    const partner = start(id, { parties: [{ id, format: 'avro' }], registry });
    await eventually(() => wire.connections > 0, { what: 'it asks the registry' });
    let hasStopped = false;
    const stopped = partner.stop().then(() => (hasStopped = true));
    wire.delay(0);
    await eventually(() => hasStopped, { what: 'it stops' });
    await stopped;
  });
});
