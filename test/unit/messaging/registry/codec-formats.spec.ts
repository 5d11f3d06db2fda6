import { FORMATS, topicFor } from '../../../../src/contracts';
import { createCodec } from '../../../../src/messaging/registry';
import { ALL_CONTRACTS, publishedRegistry } from './documents';

describe('a document in each format', () => {
  const registry = publishedRegistry('acme');
  const codec = createCodec(registry);

  it.each(ALL_CONTRACTS.flatMap((contract) => FORMATS.map((format) => [contract.name, format, contract] as const)))(
    '%s keeps its examples in %s',
    async (_name, format, contract) => {
      const route = { topic: topicFor(contract, 'acme'), format };
      for (const example of contract.examples) {
        const { payload } = await codec.encode(contract, route, example);
        expect(await codec.decode(contract, route, { value: payload, headers: {} })).toMatchObject({
          ok: true,
          value: example,
        });
      }
    },
  );
});
