import { despatchAdvice, type OrderResponse, orderResponse, type RegisteredFormat } from '../../../src/contracts';
import { createLanePublisher } from '../../../src/messaging/kafka';
import { createCodec } from '../../../src/messaging/registry';
import { testConfig } from '../../support/config';
import { eventually } from '../../support/eventually';
import { readAll } from '../../support/kafka';
import { testRegistry } from '../../support/registry';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy';
import { relayOn } from '../outbox/harness';
import { logger, openWorld, parkedKeys, parkedRows, type World } from './harness';
import {
  avroBytes,
  type Compression,
  consume,
  countingRegistry,
  framed,
  published,
  RegisteredPartner,
} from './registered';

let world: World;
let url: string;
let wire: TcpProxy;
const running: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  [world, url] = await Promise.all([openWorld(), testRegistry()]);
  wire = await startTcpProxy({ port: Number(new URL(url).port) });
});
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.close();
  wire.refuse(false);
});
afterAll(async () => {
  await wire.close();
  await world.close();
});

/** The consumer under test reaches the registry over a wire that can be cut; the partner has its own. */
function start(...more: Parameters<typeof consume> extends [World, unknown, ...infer R] ? R : never) {
  const over = new URL(url);
  over.port = String(wire.port);
  const registry = countingRegistry(over.href);
  const consumer = consume(world, registry, ...more);
  running.push(consumer);
  return { ...consumer, registry };
}

const answer = (orderNumber: string, change: Partial<OrderResponse> = {}): OrderResponse => ({
  orderNumber,
  responseCode: 'AP',
  issuedAt: '2026-03-01T10:00:00Z',
  ...change,
});
const AVRO = published(orderResponse, 'avro');
const inAvro = (id: number, value: OrderResponse) => framed(id, avroBytes(AVRO, value));

/** Documents that took effect, in order. */
const effects = async (partner: RegisteredPartner): Promise<unknown[]> =>
  (
    await world.database.query<{ body: unknown }>('SELECT body FROM effect WHERE partner = :id ORDER BY n', {
      id: partner.id,
    })
  ).map((row) => row.body);
const effectsOf = (partner: RegisteredPartner, count: number) =>
  eventually(async () => (await effects(partner)).length >= count, {
    what: `${count} documents took effect`,
  });

describe('records whose schema a registry has', () => {
  test.each<RegisteredFormat>(['avro', 'protobuf', 'json-schema'])(
    'take effect in %s; garbage and a tombstone among them are kept byte for byte, and the partner hears of them',
    async (format) => {
      const partner = await RegisteredPartner.of(world, url, format);
      const id = await partner.register(orderResponse);
      const codec = createCodec(countingRegistry(url));
      const route = { topic: partner.responses, format };
      const bytes = async (value: OrderResponse) => (await codec.encode(orderResponse, route, value)).payload;
      const full = answer('order-1', {
        responseCode: 'CA',
        reason: 'só dez 📦',
        lines: [{ lineNumber: 1, quantity: '999999999999999999.000001', unitPrice: '0.10' }],
      });
      start();
      const garbage = [Buffer.from('garbage'), framed(id, Buffer.from([0xff, 0xff, 0xff])), Buffer.from([0])];
      await partner.write(orderResponse, 'order-1', await bytes(full));
      for (const [index, value] of garbage.entries()) await partner.write(orderResponse, `bad-${index}`, value);
      await partner.write(orderResponse, 'order-3', null);
      await partner.write(orderResponse, 'order-2', await bytes(answer('order-2')));
      await effectsOf(partner, 2);
      expect(await effects(partner)).toEqual([full, answer('order-2')]);
      const rows = await parkedRows(world, partner.id);
      expect(rows.map((row) => [row.state, row.code])).toEqual([
        ['dead', 'undecodable'],
        ['dead', 'undecodable'],
        ['dead', 'undecodable'],
        ['dead', 'tombstone-unsupported'],
      ]);
      expect(rows.map((row) => row.raw_value)).toEqual([...garbage, null]);

      const kafka = createLanePublisher(testConfig(world.url), logger, 'relay');
      const relay = relayOn(world.url, kafka);
      running.push({ close: () => kafka.close() }, { close: () => relay.stop(1000) });
      relay.start();
      const told = await eventually(
        async () => {
          // A relay may repeat what it has sent.
          const records = await readAll(partner.errors);
          const ids = records.map(({ headers }) => String(headers['ce_id']));
          const firsts = records.filter((_, index) => ids.indexOf(ids[index] ?? '') === index);
          return firsts.length === 4 ? firsts : undefined;
        },
        { what: 'four reports are on the error topic' },
      );
      expect(told.map(({ key, value }) => [String(key), JSON.parse(String(value)) as unknown])).toEqual(
        ['bad-0', 'bad-1', 'bad-2', 'order-3'].map((key, index) => [
          key,
          expect.objectContaining({
            code: index < 3 ? 'undecodable' : 'tombstone-unsupported',
            topic: partner.responses,
            partition: 0,
            offset: String(index + 1),
          }) as unknown,
        ]),
      );
      expect(String(told[0]?.headers['content-type'])).toBe('application/json');
    },
  );

  test('have 64 bits and every digit', async () => {
    const partner = await RegisteredPartner.of(world, url, 'avro');
    const id = await partner.register(despatchAdvice);
    start();
    const advice = {
      orderNumber: 'order-1',
      despatchNumber: 'D-1',
      issuedAt: '2026-03-01T10:00:00Z',
      lines: [{ lineNumber: 1, quantity: '123456789012345678.123456' }],
    };
    // No number of JavaScript holds it.
    const long = zigZag(999_999_999_999_999_999n);
    const without = avroBytes(published(despatchAdvice, 'avro'), { ...advice, grossWeightGrams: null });
    const [before, behind] = split(without, advice.issuedAt);
    // The union's null (00) becomes its long (02).
    const value = Buffer.concat([before, Buffer.from([0, 0, 2]), long, behind.subarray(3)]);
    await partner.write(despatchAdvice, 'order-1', framed(id, value));
    await effectsOf(partner, 1);
    expect(await effects(partner)).toEqual([{ ...advice, grossWeightGrams: '999999999999999999' }]);
  });

  test('may have members called key, value and headers', async () => {
    const partner = await RegisteredPartner.of(world, url, 'avro');
    const schema = JSON.parse(AVRO) as { fields: unknown[] };
    const extra = ['key', 'value', 'headers'].map((name) => ({ name, type: ['null', 'string'], default: null }));
    const text = JSON.stringify({ ...schema, fields: [...extra, ...schema.fields] });
    const id = await partner.register(orderResponse, text);
    const json = await RegisteredPartner.of(world, url, 'json-schema');
    const jsonId = await json.register(orderResponse);
    start();
    const value = { ...answer('order-1'), key: 'k', value: 'v', headers: 'h' };
    await partner.write(orderResponse, 'order-1', framed(id, avroBytes(text, value)));
    await json.write(orderResponse, 'order-1', framed(jsonId, Buffer.from(JSON.stringify(value))));
    await effectsOf(partner, 1);
    await effectsOf(json, 1);
    // Avro resolves to our schema, which has no such members; JSON keeps what is there.
    expect(await effects(partner)).toEqual([answer('order-1')]);
    expect(await effects(json)).toEqual([value]);
  });

  test.each<Compression>(['gzip', 'snappy', 'lz4', 'zstd'])('are read when packed with %s', async (compression) => {
    const partner = await RegisteredPartner.of(world, url, 'avro');
    const id = await partner.register(orderResponse);
    start();
    const documents = Array.from({ length: 40 }, (_, n) => answer(`order-${n}`, { reason: 'x'.repeat(n * 40) }));
    await partner.writePacked(
      orderResponse,
      compression,
      documents.map((document) => [document.orderNumber, inAvro(id, document)]),
    );
    await effectsOf(partner, documents.length);
    expect(await effects(partner)).toEqual(documents);
  });
});

/** A positive long as Avro writes it. */
function zigZag(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = value << 1n;
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
}

/** Cuts behind the first occurrence of the text. */
function split(bytes: Buffer, text: string): [Buffer, Buffer] {
  const end = bytes.indexOf(text) + Buffer.byteLength(text);
  return [bytes.subarray(0, end), bytes.subarray(end)];
}

describe('a schema id that is not known yet', () => {
  test('waits while the registry is away: nothing is parked or counted, others flow, and it goes on alone', async () => {
    const [partner, warm] = [
      await RegisteredPartner.of(world, url, 'avro'),
      await RegisteredPartner.of(world, url, 'avro'),
    ];
    const [id, warmId] = [await partner.register(orderResponse), await warm.register(orderResponse)];
    const { processor } = start();
    await warm.write(orderResponse, 'order-0', inAvro(warmId, answer('order-0')));
    await effectsOf(warm, 1);
    wire.refuse(true);
    wire.cutAll();
    await partner.write(orderResponse, 'order-1', inAvro(id, answer('order-1')));
    await eventually(() => processor.signals.waitingFor === 'registry');
    // A registry that is away changes nothing for what is warm.
    await warm.write(orderResponse, 'order-1', inAvro(warmId, answer('order-1')));
    await effectsOf(warm, 2);
    expect(await parkedRows(world, partner.id)).toEqual([]);
    expect(await parkedKeys(world, partner.id)).toEqual([]);
    expect(await effects(partner)).toEqual([]);
    wire.refuse(false);
    await effectsOf(partner, 1);
    expect(await parkedRows(world, partner.id)).toEqual([]);
    await eventually(() => processor.signals.waitingFor === undefined);
  });

  test('is a dead letter when the registry says so, and the next record is processed', async () => {
    const [partner, other] = [
      await RegisteredPartner.of(world, url, 'avro'),
      await RegisteredPartner.of(world, url, 'avro'),
    ];
    const [id, foreign] = [
      await partner.register(orderResponse),
      // Known to the registry, and not of this topic.
      await other.register(despatchAdvice),
    ];
    start();
    await partner.write(orderResponse, 'order-1', inAvro(2_000_000_000, answer('order-1')));
    await partner.write(orderResponse, 'order-2', inAvro(foreign, answer('order-2')));
    await partner.write(orderResponse, 'order-3', inAvro(id, answer('order-3')));
    await effectsOf(partner, 1);
    expect((await parkedRows(world, partner.id)).map((row) => [row.key, row.state, row.code])).toEqual([
      ['order-1', 'dead', 'schema-unknown'],
      ['order-2', 'dead', 'schema-unknown'],
    ]);
  });

  test('may have been published a moment ago: the registry is asked after the record was seen', async () => {
    const partner = await RegisteredPartner.of(world, url, 'avro');
    const id = await partner.register(orderResponse);
    start();
    await partner.write(orderResponse, 'order-1', inAvro(id, answer('order-1')));
    await effectsOf(partner, 1);
    // The list that was just read lacks the new version.
    const next = JSON.parse(AVRO) as { fields: unknown[] };
    next.fields.push({ name: 'incoterm', type: ['null', 'string'], default: null });
    const text = JSON.stringify(next);
    const newId = await partner.register(orderResponse, text);
    const value = framed(newId, avroBytes(text, { ...answer('order-2'), incoterm: 'DAP' }));
    await partner.write(orderResponse, 'order-2', value);
    await effectsOf(partner, 2);
    expect(await parkedRows(world, partner.id)).toEqual([]);
  });

  test('may come five hundred times in a batch: they cost one look at the registry, and the partition advances', async () => {
    const partner = await RegisteredPartner.of(world, url, 'avro');
    const id = await partner.register(orderResponse);
    const records = Array.from(
      { length: 500 },
      (_, n) => [`bad-${n}`, inAvro(1_000_000 + n, answer(`bad-${n}`))] as [string, Buffer],
    );
    await partner.writePacked(orderResponse, 'gzip', [...records, ['order-1', inAvro(id, answer('order-1'))]]);
    const { registry } = start();
    await effectsOf(partner, 1);
    expect(await parkedRows(world, partner.id)).toHaveLength(500);
    // Two subjects may be read on the topic, and two batches may have been fetched.
    const listings = registry.listings.filter((subject) => subject.startsWith(partner.responses));
    expect(listings.length).toBeLessThanOrEqual(4);
  });
});
