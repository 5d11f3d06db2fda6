import { orderResponse } from '../../../../src/contracts';
import { createCodec } from '../../../../src/messaging/registry';
import { cpuMs } from '../../../support/cpu-time';
import { answerBytes, bytes, head, read, refused, SUBJECT, TOPIC, zigzag } from './hostile-writer';
import { MemoryRegistry } from './memory-registry';

describe('a schema whose cost would multiply', () => {
  async function took<T>(work: () => Promise<T>): Promise<number> {
    const began = cpuMs();
    await work();
    return cpuMs() - began;
  }

  /** The answer in `branches` forms, each with lines of one and the same record of `fields` fields. */
  function manyForms(branches: number, fields: number): object[] {
    const members = ['quantity', 'unitPrice'].map((name) => ({ name, type: 'string' }));
    const more = Array.from({ length: fields }, (_, i) => ({ name: `f${i}`, type: 'int' }));
    const line = {
      type: 'record',
      name: 'n.OrderResponseLine',
      fields: [{ name: 'lineNumber', type: 'int' }, ...members, ...more],
    };
    return Array.from({ length: branches }, (_, i) => ({
      type: 'record',
      name: `n${i}.OrderResponse`,
      fields: [...head, { name: 'lines', type: { type: 'array', items: i === 0 ? line : line.name } }],
    }));
  }

  it('Avro: hundreds of branches that name one record of thousands of fields resolve it once', async () => {
    const once = await took(() => read('avro', manyForms(1, 2400), bytes(0n, answerBytes)));
    const often = await took(() => read('avro', manyForms(300, 2400), bytes(0n, answerBytes)));
    expect(often).toBeLessThan(20 * once);
  });

  it('Protobuf: a file of a hundred thousand words is read once, however many records name places in it', async () => {
    const registry = new MemoryRegistry();
    const { id } = registry.put(SUBJECT, 'protobuf', 'message A{}'.repeat(20_000));
    const codec = createCodec(registry);
    const decode = (place: number) => {
      const value = Buffer.concat([Buffer.from([0, 0, 0, 0, id, 2]), zigzag(BigInt(place))]);
      return codec.decode(orderResponse, { topic: TOPIC, format: 'protobuf' }, { value, headers: {} });
    };
    const first = await took(async () => expect(await decode(0)).toEqual(refused('schema-mismatch', /holds a A/)));
    const others = await took(async () => {
      for (let place = 1; place <= 200; place++) expect((await decode(place)).ok).toBe(false);
    });
    expect(others).toBeLessThan(20 * first);
  });
});

describe('what a stranger wrote in a schema', () => {
  const EVIL = `evil"); throw 0; //`;

  it('is never part of text that is run', async () => {
    const texts: string[] = [];
    const real = globalThis.Function;
    const recorder = jest.spyOn(globalThis, 'Function').mockImplementation((...parts: string[]) => {
      texts.push(...parts);
      return real(...parts);
    });
    try {
      const symbols = { type: 'enum', name: `${EVIL}.E`, symbols: [EVIL], default: EVIL };
      const evil = { name: EVIL, aliases: [EVIL], doc: EVIL, default: EVIL, type: ['string', symbols] };
      const [number, ...others] = head;
      const schema = {
        ...{ type: 'record', name: `${EVIL}.OrderResponse`, aliases: [EVIL], doc: EVIL },
        fields: [evil, { ...number, default: EVIL, aliases: [EVIL], doc: EVIL }, ...others],
      };
      expect(await read('avro', schema, bytes(0n, 1n, Buffer.from('x'), answerBytes))).toMatchObject({ ok: true });
      const file = `package ${EVIL}; message ${EVIL} {}`;
      expect(await read('protobuf', file, Buffer.from([0]))).toMatchObject({ ok: false });
    } finally {
      recorder.mockRestore();
    }
    expect(texts.some((text) => text.includes('v0'))).toBe(true);
    expect(texts.filter((text) => text.includes('evil'))).toEqual([]);
  });
});
