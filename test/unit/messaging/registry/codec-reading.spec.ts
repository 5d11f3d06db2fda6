import { type AnyContract, orderRequest, orderResponse, subjectFor } from '../../../../src/contracts';
import { type Codec, createCodec, RegistryUnavailable, type Route } from '../../../../src/messaging/registry';
import { AppError } from '../../../../src/platform/errors';
import { publishedRegistry } from './documents';
import { MemoryRegistry } from './memory-registry';

const TOPIC = 'orders.acme.response.v1';
const AVRO: Route = { topic: TOPIC, format: 'avro' };
const ANSWER = orderResponse.examples[0];
const outage = () => {
  throw new RegistryUnavailable('no URL answers');
};
const withoutHeaders = (value: Buffer) => ({ value, headers: {} });

async function bytesOf(codec: Codec, route: Route, value: unknown = ANSWER, contract: AnyContract = orderResponse) {
  return (await codec.encode(contract, route, value)).payload;
}

describe('reading', () => {
  it('waits for nothing once the schema is known, also while the registry is away', async () => {
    const registry = publishedRegistry('acme');
    const codec = createCodec(registry);
    const value = await bytesOf(codec, AVRO);
    const many = Array.from({ length: 50 }, () => codec.decode(orderResponse, AVRO, withoutHeaders(value)));
    expect((await Promise.all(many)).every(({ ok }) => ok)).toBe(true);
    expect(registry.calls.filter((call) => call.startsWith('versions'))).toHaveLength(2);
    registry.before = outage;
    expect(await codec.decode(orderResponse, AVRO, withoutHeaders(value))).toMatchObject({ ok: true, value: ANSWER });
  });

  it('rejects with an outage when it has to ask and no one answers', async () => {
    const registry = publishedRegistry('acme');
    const value = await bytesOf(createCodec(registry), AVRO);
    registry.before = outage;
    await expect(createCodec(registry).decode(orderResponse, AVRO, withoutHeaders(value))).rejects.toThrow(
      RegistryUnavailable,
    );
  });

  it('knows no schema of another topic, though it be the same document', async () => {
    const registry = publishedRegistry('acme');
    const text = 'another schema, so that it has another id';
    const { id, guid } = registry.put(subjectFor(orderResponse, 'orders.globex.response.v1'), 'json-schema', text);
    const codec = createCodec(registry);
    const route: Route = { topic: TOPIC, format: 'json-schema' };
    const body = JSON.stringify(ANSWER);
    const framed = Buffer.from(`\0\0\0\0${String.fromCharCode(id)}${body}`);
    expect(await codec.decode(orderResponse, route, withoutHeaders(framed))).toEqual({
      ok: false,
      error: {
        code: 'schema-unknown',
        detail: `the schema id ${id} is none of ${TOPIC}-parley.v1.OrderResponse or ${TOPIC}-value`,
      },
    });
    const headers = { __value_schema_id: Buffer.from(`01${guid?.replaceAll('-', '')}`, 'hex') };
    expect(await codec.decode(orderResponse, route, { value: Buffer.from(body), headers })).toMatchObject({
      ok: false,
      error: { code: 'schema-unknown' },
    });
  });

  it("reads what was written under the topic's one subject, as Confluent's clients do by default", async () => {
    const registry = new MemoryRegistry();
    const { id } = registry.put(`${TOPIC}-value`, 'json-schema', '{}');
    const value = Buffer.from(`\0\0\0\0${String.fromCharCode(id)}${JSON.stringify(ANSWER)}`);
    const route: Route = { topic: TOPIC, format: 'json-schema' };
    expect(await createCodec(registry).decode(orderResponse, route, withoutHeaders(value))).toEqual({
      ok: true,
      value: ANSWER,
      schemaId: id,
    });
  });

  it('says so when the schema is of another format than the channel', async () => {
    const registry = publishedRegistry('acme');
    const codec = createCodec(registry);
    const value = await bytesOf(codec, { ...AVRO, format: 'json-schema' });
    expect(await codec.decode(orderResponse, AVRO, withoutHeaders(value))).toEqual({
      ok: false,
      schemaId: value.readUInt32BE(1),
      error: {
        code: 'schema-mismatch',
        detail: expect.stringMatching(/JSON with a schema id where .* Avro/) as string,
      },
    });
  });

  it('names the place of what breaks a rule, and the same place in all formats', async () => {
    const registry = publishedRegistry('acme');
    const lax = { ...orderResponse, jsonSchema: { type: 'object' } };
    const value = { ...ANSWER, responseCode: 'CA', lines: [{ lineNumber: 1, quantity: '1,5', unitPrice: '1' }] };
    for (const format of ['avro', 'protobuf', 'json-schema', 'json'] as const) {
      const codec = createCodec(registry);
      const bytes = await bytesOf(codec, { ...AVRO, format }, value, lax);
      expect(await codec.decode(orderResponse, { ...AVRO, format }, withoutHeaders(bytes))).toMatchObject({
        ok: false,
        error: {
          ...{ code: 'invalid', pointer: '/lines/0/quantity' },
          detail: 'must be a decimal, not negative, at most 18 digits before and 6 after the point',
        },
      });
    }
  });

  it.each([
    [{ ...ANSWER, lines: [{ lineNumber: 1, quantity: '1', unitPrice: '1' }] }, 'must not be there'],
    [{ ...ANSWER, responseCode: 'CA' }, 'is missing'],
  ])('says of a member whether it is missing or should be', async (value, detail) => {
    const record = withoutHeaders(Buffer.from(JSON.stringify(value)));
    expect(await createCodec(undefined).decode(orderResponse, { topic: TOPIC, format: 'json' }, record)).toEqual({
      ok: false,
      error: { code: 'invalid', pointer: '/lines', detail },
      broken: value,
    });
  });

  it('refuses half a character also where JSON escapes it', async () => {
    const value = Buffer.from(JSON.stringify({ ...ANSWER, reason: '?' }).replace('?', String.raw`\uD83D`));
    const route: Route = { topic: TOPIC, format: 'json' };
    expect(await createCodec(undefined).decode(orderResponse, route, withoutHeaders(value))).toMatchObject({
      ok: false,
      error: { code: 'invalid', pointer: '/reason' },
    });
  });

  it.each([
    ['avro', '{"orderNumber":"1"}', /first byte is 0x7b.*0x00 and a schema id.*plain JSON/],
    ['json-schema', '{"orderNumber":"1"}', /first byte is 0x7b.*0x00 and a schema id.*plain JSON/],
    ['json', '\0\0\0\0\u0001{"orderNumber":"1"}', /0x00.*schema id.*JSON text is expected/],
    ['json', '{"orderNumber":4500017 oops}', /^not JSON: it is not JSON, at position 23 \(line 1 column 24\)$/],
    ['avro', '', /it is empty/],
    ['protobuf', '\0\0\0\0', /4 bytes are too few/],
    ['protobuf', '\0\0\0\0\u0001', /ends too early/],
  ] as const)('says what is wrong with other bytes on a channel that speaks %s: %j', async (format, text, detail) => {
    const codec = createCodec(publishedRegistry('acme'));
    expect(await codec.decode(orderResponse, { ...AVRO, format }, withoutHeaders(Buffer.from(text)))).toEqual({
      ok: false,
      error: { code: 'undecodable', detail: expect.stringMatching(detail) as string },
    });
  });
});

describe('the schema id in the header', () => {
  const registry = publishedRegistry('acme');
  const codec = createCodec(registry);
  const read = async (format: Route['format'], header: unknown) => {
    const value = (await bytesOf(codec, { ...AVRO, format })).subarray(format === 'protobuf' ? 6 : 5);
    const headers = { __value_schema_id: header as Buffer };
    return codec.decode(orderResponse, { ...AVRO, format }, { value, headers });
  };

  it('is read as number and as UUID; of several the last', async () => {
    const schemas = await registry.versions(subjectFor(orderResponse, TOPIC));
    for (const { id, guid, format } of schemas) {
      const indexes = format === 'protobuf' ? '00' : '';
      const number = Buffer.from(`00${id.toString(16).padStart(8, '0')}${indexes}`, 'hex');
      const uuid = Buffer.from(`01${guid?.replaceAll('-', '')}${indexes}`, 'hex');
      const other = Buffer.from('00ffffffff', 'hex');
      for (const header of [number, uuid, number.toString('latin1'), [other, uuid]]) {
        expect(await read(format, header)).toEqual({ ok: true, value: ANSWER, schemaId: id });
      }
    }
  });

  it.each(['', '00', '0000000001ff', '02aabbccdd', '01aabb'])('is refused where it is no id: 0x%s', async (hex) => {
    expect(await read('avro', Buffer.from(hex, 'hex'))).toMatchObject({ ok: false, error: { code: 'undecodable' } });
  });
});

describe('schemas that refer to others', () => {
  const parts = 'orders.acme.parts';
  const line = {
    type: 'record',
    name: 'acme.OrderRequestLine',
    fields: ['lineNumber', 'item', 'quantity', 'unit', 'unitPrice'].map((name, i) => ({
      name,
      type: i === 0 ? 'int' : 'string',
    })),
  };
  const order = {
    type: 'record',
    name: 'acme.OrderRequest',
    fields: [
      ...['orderNumber', 'issuedAt', 'currency'].map((name) => ({ name, type: 'string' })),
      { name: 'lines', type: { type: 'array', items: 'acme.OrderRequestLine' } },
      // Our last one, which is missing in the document: one byte.
      { name: 'contact', type: ['null', 'string'] },
    ],
  };
  const route: Route = { topic: 'orders.acme.request.v1', format: 'avro' };
  const subject = subjectFor(orderRequest, route.topic);
  const name = 'acme.OrderRequestLine';

  /** A document's bytes don't change with the place of its schema's parts, nor with names. */
  async function readUnder(registry: MemoryRegistry, id: number) {
    const value = await bytesOf(createCodec(publishedRegistry('acme')), route, orderRequest.examples[0], orderRequest);
    value.writeUInt32BE(id, 1);
    return createCodec(registry).decode(orderRequest, route, withoutHeaders(value));
  }

  it('are read with what they refer to', async () => {
    const registry = new MemoryRegistry();
    registry.put(parts, 'avro', JSON.stringify(line));
    const { id } = registry.put(subject, 'avro', JSON.stringify(order), [{ name, subject: parts, version: 1 }]);
    expect(await readUnder(registry, id)).toEqual({ ok: true, value: orderRequest.examples[0], schemaId: id });
  });

  it.each([
    ['what they refer to is not there', [{ name, subject: 'nothing', version: 1 }]],
    ['they refer to themselves', [{ name, subject, version: 1 }]],
    ['they use a name and refer to nothing', []],
  ])('are refused with a reason when %s', async (_case, references) => {
    const registry = new MemoryRegistry();
    const { id } = registry.put(subject, 'avro', JSON.stringify(order), references);
    expect(await readUnder(registry, id)).toMatchObject({
      ok: false,
      error: { code: 'schema-mismatch' },
      schemaId: id,
    });
  });

  it('wait while the registry refuses to say what they refer to', async () => {
    const registry = new MemoryRegistry();
    const { id } = registry.put(subject, 'avro', JSON.stringify(order), [{ name, subject: parts, version: 1 }]);
    registry.before = (call) => {
      if (call.startsWith('version ')) throw new AppError('registry-refused', 'HTTP 403');
    };
    await expect(readUnder(registry, id)).rejects.toThrow(RegistryUnavailable);
  });

  it('are compiled once, however many records wait for them', async () => {
    const registry = new MemoryRegistry();
    registry.put(parts, 'avro', JSON.stringify(line));
    const { id } = registry.put(subject, 'avro', JSON.stringify(order), [{ name, subject: parts, version: 1 }]);
    const codec = createCodec(registry);
    const value = await bytesOf(createCodec(publishedRegistry('acme')), route, orderRequest.examples[0], orderRequest);
    value.writeUInt32BE(id, 1);
    await Promise.all(Array.from({ length: 20 }, () => codec.decode(orderRequest, route, withoutHeaders(value))));
    expect(registry.calls.filter((call) => call.startsWith('version '))).toHaveLength(1);
  });
});
