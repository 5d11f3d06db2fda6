import * as avsc from 'avsc';
import { fuzz, type Target } from '../../../../bench/fuzz/fuzzer.mjs';
import { targetsOf } from '../../../../bench/fuzz/targets.mjs';
import * as contracts from '../../../../src/contracts';
import * as registry from '../../../../src/messaging/registry';
import { resolveAvro } from '../../../../src/messaging/registry/avro-reader';
import { parseAvroSchema } from '../../../../src/messaging/registry/avro-schema';
import { ByteCursor } from '../../../../src/messaging/registry/byte-cursor';
import { Malformed, SchemaMismatch } from '../../../../src/messaging/registry/malformed';
import { messageNames } from '../../../../src/messaging/registry/protobuf-names';

const faults = [Malformed, SchemaMismatch];
const internals = { parseAvroSchema, resolveAvro, ByteCursor, messageNames, faults };

describe('bytes that nobody has written', () => {
  let targets: Target[];
  beforeAll(async () => {
    targets = await targetsOf({ contracts, registry, avsc, internals });
  });

  it.each([1, 2, 3, 4])('become a value or a typed error, in no time and in little memory (seed %i)', async (seed) => {
    const before = process.memoryUsage().rss;
    const { fault, done, outcomes } = await fuzz({ targets, seed, cases: 8000 });
    expect(fault).toBeUndefined();
    expect(done).toBe(8000);
    // All ways out were taken, so that none of them is a way that only looks safe.
    for (const outcome of ['value', 'undecodable', 'invalid', 'schema-mismatch', 'schema-unknown']) {
      expect(outcomes[outcome]).toBeGreaterThan(0);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  });

  it('are told from those which a reader believes', async () => {
    const [target] = targets as [Target];
    const believing = { ...target, decode: (bytes: Buffer) => Promise.resolve({ ok: true, value: bytes.toString() }) };
    const { fault } = await fuzz({ targets: [believing], seed: 1, cases: 100 });
    expect(fault?.why).toContain("can't be written");
  });

  it('are told from those which make a reader throw, or answer with something else', async () => {
    const [target] = targets as [Target];
    const why = async (decode: Target['decode']) =>
      (await fuzz({ targets: [{ ...target, decode }], seed: 1, cases: 1 })).fault?.why;
    expect(await why(() => Promise.reject(new RangeError('out of bounds')))).toContain('RangeError');
    expect(await why(() => Promise.resolve(undefined))).toContain('it answers');
  });
});
