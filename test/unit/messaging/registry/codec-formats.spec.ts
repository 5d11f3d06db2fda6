import fc from 'fast-check';
import { CONTRACTS, FORMATS, topicFor } from '../../../../src/contracts';
import { createCodec } from '../../../../src/messaging/registry';
import { arbitraryDocument } from './arbitrary-documents';
import { publishedRegistry } from './documents';

const SEED = 4711;

describe('a document is the same in every format', () => {
  const codec = createCodec(publishedRegistry('acme'));
  const cases = CONTRACTS.flatMap((contract) =>
    (contract.format ? [contract.format] : FORMATS).map((format) => [contract.name, format, contract] as const),
  );

  async function carry(contract: (typeof CONTRACTS)[number], format: (typeof FORMATS)[number], value: unknown) {
    const route = { topic: topicFor(contract, 'acme'), format };
    const { payload } = await codec.encode(contract, route, value);
    const decoded = await codec.decode(contract, route, { value: payload, headers: {} });
    return decoded.ok ? decoded.value : decoded;
  }

  it.each(cases)('%s, the examples in %s', async (_name, format, contract) => {
    for (const example of contract.examples) expect(await carry(contract, format, example)).toStrictEqual(example);
  });

  it.each(cases)('%s, whatever its rules allow, in %s', async (_name, format, contract) => {
    await fc.assert(
      fc.asyncProperty(arbitraryDocument(contract), async (value) => {
        expect(await carry(contract, format, value)).toStrictEqual(value);
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});
