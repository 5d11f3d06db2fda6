import { type AnyContract, errorReport, FORMATS, orderRequest, orderResponse } from '../../../../src/contracts';
import { type Codec, createCodec, RegistryUnavailable, type Route } from '../../../../src/messaging/registry';
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

describe('writing', () => {
  it('names format and schema in what the headers say', async () => {
    const registry = publishedRegistry('acme');
    const encoded = async (format: Route['format']) => {
      const { payload: _payload, ...said } = await createCodec(registry).encode(
        orderResponse,
        { ...AVRO, format },
        ANSWER,
      );
      return said;
    };
    const schema = (version: number) => `urn:parley:subjects/${TOPIC}-parley.v1.OrderResponse/versions/${version}`;
    expect(await encoded('avro')).toEqual({ contentType: 'application/avro', dataSchema: schema(1) });
    expect(await encoded('protobuf')).toEqual({ contentType: 'application/protobuf', dataSchema: schema(2) });
    expect(await encoded('json-schema')).toEqual({ contentType: 'application/json', dataSchema: schema(3) });
    expect(await encoded('json')).toEqual({ contentType: 'application/json' });
  });

  it.each(FORMATS)('sends no mask in place of personal data, in %s', async (format) => {
    const [, order] = orderRequest.examples;
    const codec = createCodec(publishedRegistry('acme'));
    const write = (name: string) =>
      codec.encode(orderRequest, { topic: 'orders.acme.request.v1', format }, { ...order, contact: { name } });
    await expect(write('•••')).rejects.toMatchObject({
      code: 'document-invalid',
      violations: [{ pointer: '/contact/name', detail: 'must be the value, not its mask' }],
    });
    expect((await write('Kim ••• Doe')).payload.length).toBeGreaterThan(0);
  });

  it('asks for the schema once, whoever needs it, and then no more', async () => {
    const registry = publishedRegistry('acme');
    const codec = createCodec(registry);
    await Promise.all(Array.from({ length: 50 }, () => bytesOf(codec, AVRO)));
    await codec.ready(orderResponse, AVRO);
    registry.before = outage;
    await bytesOf(codec, AVRO);
    await codec.ready(orderResponse, AVRO);
    expect(registry.calls).toEqual([`lookup ${TOPIC}-parley.v1.OrderResponse`]);
  });

  it('says that a schema is not published, and how it gets there', async () => {
    const codec = createCodec(new MemoryRegistry());
    for (const refused of [codec.ready(orderResponse, AVRO), codec.encode(orderResponse, AVRO, ANSWER)]) {
      await expect(refused).rejects.toMatchObject({
        code: 'schema-unpublished',
        retriable: true,
        hint: expect.stringContaining('parley contracts publish') as string,
      });
    }
  });

  it('rejects with an outage while nothing is known of the schema, and asks again with the next call', async () => {
    const registry = publishedRegistry('acme');
    const codec = createCodec(registry);
    registry.before = outage;
    await expect(codec.encode(orderResponse, AVRO, ANSWER)).rejects.toThrow(RegistryUnavailable);
    registry.before = () => undefined;
    await expect(codec.encode(orderResponse, AVRO, ANSWER)).resolves.toBeDefined();
  });

  it.each(['avro', 'protobuf', 'json-schema', 'json'] as const)(
    'refuses in %s what breaks a rule of the contract, before the registry is asked',
    async (format) => {
      const registry = publishedRegistry('acme');
      const codec = createCodec(registry);
      const refused = (value: unknown) => codec.encode(orderResponse, { ...AVRO, format }, value);
      const lines = [{ lineNumber: 1, quantity: '1.', unitPrice: '1' }];
      await expect(refused({ ...ANSWER, responseCode: 'CA', lines })).rejects.toMatchObject({
        code: 'document-invalid',
        violations: [{ pointer: '/lines/0/quantity' }],
      });
      await expect(refused({ ...ANSWER, issuedAt: undefined })).rejects.toMatchObject({
        violations: [{ pointer: '/issuedAt' }],
      });
      await expect(refused({ ...ANSWER, reason: 'half a \ud83d' })).rejects.toMatchObject({
        violations: [{ pointer: '/reason', detail: 'must not hold half a character' }],
      });
      await expect(refused(null)).rejects.toMatchObject({ code: 'document-invalid', violations: [{ pointer: '' }] });
      expect(registry.calls).toEqual([]);
    },
  );

  it('takes the format that the contract itself has', async () => {
    const { payload } = await createCodec(undefined).encode(errorReport, AVRO, errorReport.examples[0]);
    expect(JSON.parse(payload.toString())).toEqual(errorReport.examples[0]);
  });
});

describe('without a registry', () => {
  const codec = createCodec(undefined);
  const json: Route = { topic: TOPIC, format: 'json' };

  it('plain JSON is spoken', async () => {
    await codec.ready(orderResponse, json);
    expect(await codec.decode(orderResponse, json, withoutHeaders(await bytesOf(codec, json)))).toEqual({
      ok: true,
      value: ANSWER,
    });
  });

  it.each(['avro', 'protobuf', 'json-schema'] as const)(
    '%s is not, and the reason names the setting',
    async (format) => {
      const route = { ...AVRO, format };
      const hint: unknown = expect.stringContaining('SCHEMA_REGISTRY_URLS');
      const expected = { code: 'registry-unconfigured', hint };
      await expect(codec.ready(orderResponse, route)).rejects.toMatchObject(expected);
      await expect(codec.encode(orderResponse, route, ANSWER)).rejects.toMatchObject(expected);
      const decoding = codec.decode(orderResponse, route, withoutHeaders(Buffer.alloc(10)));
      await expect(decoding).rejects.toMatchObject({ code: 'registry-unavailable', hint });
    },
  );
});
