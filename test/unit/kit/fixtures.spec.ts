import {
  CONTRACTS,
  contractsFor,
  type Format,
  FORMATS,
  type RegisteredFormat,
  topicFor,
  typeOf,
} from '../../../src/contracts';
import { numberedRegistry } from '../../../src/kit/numbered-registry';
import { inspect } from '../../../src/messaging/consumer/inspect';
import { type Codec, createCodec } from '../../../src/messaging/registry';
import { REPORT_CODES } from '../../../src/platform/http';
import { kitFor } from '../../support/kit';

interface RecordFile {
  writer: 'partner' | 'parley';
  topic: string;
  key: string;
  headers: Record<string, string>;
  value: string | null;
  refusedWith?: { code: string; pointer?: string };
}

/** Made once: no test changes it. */
const kits = new Map<Format, ReturnType<typeof kitFor>>();
function kitIn(format: Format): ReturnType<typeof kitFor> {
  const kit = kits.get(format) ?? kitFor('acme', format);
  kits.set(format, kit);
  return kit;
}

const OF_A_PARTNER = contractsFor(CONTRACTS, 'acme');
const INBOUND = new Map(OF_A_PARTNER.filter(({ direction }) => direction === 'in').map((one) => [typeOf(one), one]));

/** The records of a kit, each with the bytes that its file names. */
async function recordsOf(format: Format) {
  const files = await kitIn(format);
  return [...files]
    .filter(([name]) => name.endsWith('.record.json'))
    .map(([name, content]) => {
      const record = JSON.parse(String(content)) as RecordFile;
      const folder = name.slice(0, name.lastIndexOf('/') + 1);
      const value = record.value === null ? null : (files.get(folder + record.value) ?? null);
      return { ...record, name, value, document: files.get(name.replace('.record.json', '.json')) };
    });
}

/** Knows what the sandbox registers, as its script reads it. */
async function codecFor(format: Format): Promise<Codec> {
  const files = await kitIn(format);
  const rows = JSON.parse(String(files.get('sandbox/schemas.json'))) as { id: number; subject: string; file: string }[];
  return createCodec(
    numberedRegistry(
      rows.map(({ id, subject, file }) => ({
        ...{ id, subject, version: 1, references: [], format: format as RegisteredFormat },
        text: String(files.get(file)),
      })),
    ),
  );
}

/** What our consumer says of a record before it asks the database. */
async function judged(record: Awaited<ReturnType<typeof recordsOf>>[number], format: Format, codec: Codec) {
  const { topic, headers, value } = record;
  const channel = { id: 1, partner: 'acme', topic, direction: 'in', format, partitions: 1 } as const;
  const inspected = await inspect(
    {
      ...{ topic, partition: 0, offset: 0n, timestamp: 0, value, key: Buffer.from(record.key) },
      headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    },
    { ...channel, maxMessageBytes: 1_000_000, allowMissingId: false },
    INBOUND,
    codec,
    Date.now(),
  );
  return inspected.content;
}

describe.each(FORMATS)('the fixtures of a kit in %s', (format) => {
  it('that are good are read by our codec as the document that stands beside them', async () => {
    const codec = await codecFor(format);
    const good = (await recordsOf(format)).filter(({ name }) => name.includes('/good/'));
    expect(good.length).toBeGreaterThanOrEqual(OF_A_PARTNER.length);
    for (const record of good) {
      const contract = OF_A_PARTNER.find((one) => typeOf(one) === record.headers['ce_type']);
      expect([record.name, contract && topicFor(contract, 'acme')]).toEqual([record.name, record.topic]);
      if (!contract) continue;
      const value = record.value ?? Buffer.alloc(0);
      const decoded = await codec.decode(contract, { topic: record.topic, format }, { value, headers: {} });
      expect([record.name, decoded]).toMatchObject([
        record.name,
        { ok: true, value: JSON.parse(String(record.document)) as unknown },
      ]);
      if (record.writer === 'partner')
        expect([record.name, await judged(record, format, codec)]).toMatchObject([
          record.name,
          { value: decoded.ok && decoded.value },
        ]);
    }
  });

  it('that are bad are refused by our consumer with the code that they state, and no other', async () => {
    const codec = await codecFor(format);
    const bad = (await recordsOf(format)).filter(({ name }) => name.includes('/bad/'));
    expect(bad.length).toBe(INBOUND.size * (format === 'json' ? 8 : 9));
    for (const record of bad) {
      const content = await judged(record, format, codec);
      const { code, pointer } =
        'refusal' in content ? (content.refusal as { code: string; pointer?: string }) : { code: 'taken' };
      expect([record.name, { code, ...(pointer === undefined ? {} : { pointer }) }]).toEqual([
        record.name,
        record.refusedWith,
      ]);
      expect(Object.keys(REPORT_CODES)).toContain(code);
      expect(record.name).toContain(`/${code}.`);
    }
  });
});
