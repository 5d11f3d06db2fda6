import { readFileSync } from 'node:fs';
import { CONTRACTS, contractsFor, schemaFileOf, subjectFor, topicFor } from '../../../src/contracts';
import { certify } from '../../../src/simulator/certification/certify';
import { laterOrderSchema } from '../../../src/simulator/certification/newer-schema';
import { uniqueName } from '../../support/kafka';
import { registerSchema, testRegistry } from '../../support/registry';
import { PATIENCE } from './certifying';
import { start, topicsOf } from './fixture';

const TYPES = { avro: 'AVRO', protobuf: 'PROTOBUF', 'json-schema': 'JSON' } as const;

describe('certification in a registered format', () => {
  it.each(['avro', 'protobuf', 'json-schema'] as const)(
    'writes %s, also as a later version of the contract would',
    async (format) => {
      const url = await testRegistry();
      const id = uniqueName('acme');
      const { requests } = await topicsOf(id);
      for (const contract of contractsFor(CONTRACTS, id).filter((one) => one.format === undefined)) {
        const schema = readFileSync(schemaFileOf(contract, format), 'utf8');
        await registerSchema(url, subjectFor(contract, topicFor(contract, id)), { schema, schemaType: TYPES[format] });
      }
      const registry = { schemaRegistryUrls: [url], schemaRegistryDeadlineMs: 30_000 };
      start(id, { parties: [{ id, format }], registry });
      const brokers = (process.env['TEST_KAFKA_BROKERS'] ?? '').split(',');
      const certified = async () => {
        const { results } = await certify(
          {
            ...{ brokers, tls: undefined, account: undefined, registry, patience: PATIENCE },
            ...{ party: { id, format }, isAlone: true, runs: 1 },
          },
          { onResult: () => undefined, log: () => undefined },
        );
        expect(results.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
        return results.find(({ name }) => name === 'unknown-field');
      };
      if (format === 'avro') {
        // Readers of Avro need the later schema, which nobody has published yet.
        expect(await certified()).toMatchObject({
          verdict: 'skipped',
          next: expect.stringContaining('later') as string,
        });
        const { subject, schema } = laterOrderSchema(requests);
        await registerSchema(url, subject, { schema: schema.text });
      }
      expect(await certified()).toMatchObject({ verdict: 'passed' });
    },
    240_000,
  );
});
