import { load } from 'js-yaml';
import { channelsInFormat, type DocumentedChannel, generatePartnerDocuments } from '../../../src/asyncapi';
import { duration } from '../../../src/asyncapi/agreement';
import {
  type AnyContract,
  despatchAdvice,
  despatchReceipt,
  errorReport,
  orderRequest,
  orderResponse,
} from '../../../src/contracts';
import type { AsyncApi } from '../../contract/asyncapi-fixtures';

const CONTRACTS: readonly AnyContract[] = [orderRequest, orderResponse, despatchAdvice, despatchReceipt, errorReport];
const AVRO = channelsInFormat(CONTRACTS, 'acme', 'avro');

function documentOf(
  change: {
    contracts?: readonly AnyContract[];
    channels?: readonly DocumentedChannel[];
    bootstrap?: string;
    registryUrl?: string;
  } = {},
  side: 'parley' | 'partner' = 'partner',
): AsyncApi {
  const files = generatePartnerDocuments({ partner: 'acme', contracts: CONTRACTS, channels: AVRO, ...change });
  return load(files.get(`acme.${side}.yaml`) ?? '') as AsyncApi;
}

describe('generating', () => {
  it('gives a document and a page for each side', () => {
    const files = generatePartnerDocuments({ partner: 'acme', contracts: CONTRACTS, channels: AVRO });
    expect([...files.keys()]).toEqual([
      ...['acme.parley.yaml', 'acme.parley.html', 'acme.partner.yaml', 'acme.partner.html'],
    ]);
  });

  it('does not depend on the order in which channels come', () => {
    expect(documentOf({ channels: AVRO.toReversed() })).toEqual(documentOf());
  });

  it('says what is known of a topic, and nothing of what is not', () => {
    const channels = AVRO.map((channel) => ({ ...channel, partitions: 6, maxMessageBytes: 1_048_588 }));
    expect(documentOf({ channels }).channels['ordersRequestV1']?.['bindings']).toEqual({
      kafka: {
        topic: 'orders.acme.request.v1',
        partitions: 6,
        topicConfiguration: { 'max.message.bytes': 1_048_588 },
        bindingVersion: '0.5.0',
      },
    });
    expect(documentOf().channels['ordersRequestV1']?.['bindings']).toEqual({
      kafka: { topic: 'orders.acme.request.v1', bindingVersion: '0.5.0' },
    });
  });

  it('puts a placeholder where no address is given', () => {
    expect(documentOf().servers['kafka']).toMatchObject({ host: '{bootstrap}', variables: { bootstrap: {} } });
    const { kafka } = documentOf({ bootstrap: 'kafka.example.com:9094', registryUrl: 'https://registry.example.com' })
      .servers as { kafka: Record<string, unknown> };
    expect(kafka).toMatchObject({
      host: 'kafka.example.com:9094',
      protocol: 'kafka-secure',
      bindings: { kafka: { schemaRegistryUrl: 'https://registry.example.com', schemaRegistryVendor: 'confluent' } },
    });
    expect(kafka).not.toHaveProperty('variables');
  });

  it('gives a message its format, and one that has a format of its own that one', () => {
    const { orderRequestV1, errorReportV1 } = documentOf().components.messages;
    expect(orderRequestV1).toMatchObject({
      contentType: 'application/avro',
      payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0' },
      bindings: {
        kafka: {
          schemaIdLocation: 'payload',
          schemaIdPayloadEncoding: 'confluent',
          schemaLookupStrategy: 'TopicRecordNameStrategy',
        },
      },
    });
    expect(errorReportV1).toMatchObject({ contentType: 'application/json' });
    expect(errorReportV1?.bindings.kafka).not.toHaveProperty('schemaIdLocation');
  });

  it('lets an error report name the exchange of what it is about, where that has one', () => {
    const { errorReportV1 } = documentOf().components.messages;
    expect(errorReportV1?.correlationId).toEqual({ $ref: '#/components/correlationIds/exchange' });
    expect(errorReportV1?.headers.required).not.toContain('ce_correlationid');
    const [example] = errorReportV1?.examples ?? [];
    expect(example?.headers['ce_correlationid']).toBe(example?.payload['correlationId']);
    expect(example?.headers['ce_causationid']).toBe(example?.payload['messageId']);
  });

  it('puts answers into the reply of their request, from both starts', () => {
    const { operations } = documentOf();
    expect(Object.keys(operations)).toEqual(['receiveOrderRequestV1', 'sendDespatchAdviceV1', 'receiveErrorReportV1']);
    expect(operations['sendDespatchAdviceV1']).toMatchObject({
      action: 'send',
      reply: {
        channel: { $ref: '#/channels/shipmentsResponseV1' },
        messages: [{ $ref: '#/channels/shipmentsResponseV1/messages/despatchReceiptV1' }],
      },
    });
  });

  it('gives an answer an operation of its own where its request is not among the documents', () => {
    const { operations } = documentOf({ contracts: [orderResponse] });
    expect(operations['sendOrderResponseV1']).toMatchObject({ action: 'send' });
  });

  it("restricts the names of the partner's consumer groups and says nothing of ours", () => {
    expect(documentOf().operations['receiveOrderRequestV1']).toMatchObject({
      bindings: { kafka: { groupId: { pattern: '^partner\\.acme\\.' } } },
    });
    expect(JSON.stringify(documentOf({}, 'parley').operations)).not.toContain('groupId');
  });

  it('does not require an id where the channel takes records without one', () => {
    const required = (channels: readonly DocumentedChannel[]) =>
      documentOf({ channels }).components.messages['orderResponseV1']?.headers.required;
    expect(required(AVRO)).toContain('ce_id');
    expect(required(AVRO.map((channel) => ({ ...channel, allowMissingId: true })))).not.toContain('ce_id');
  });

  it('leaves out documents without a channel, and refuses a partner without any', () => {
    const channels = AVRO.filter(({ topic }) => topic.startsWith('orders.'));
    expect(Object.keys(documentOf({ channels }).channels)).toEqual(['ordersRequestV1', 'ordersResponseV1']);
    expect(() => documentOf({ channels: [] })).toThrow('has no channel of any document');
  });

  it('refuses answers on several topics, for which a reply has no form', () => {
    const elsewhere: AnyContract = { ...orderResponse, name: 'order-note', topic: 'notes.{partner}.v1' };
    const contracts = [orderRequest, orderResponse, elsewhere];
    expect(() => documentOf({ contracts, channels: channelsInFormat(contracts, 'acme', 'json') })).toThrow(
      'The answers to order-request are on several topics',
    );
  });

  it.each([
    [1, '1 ms'],
    [1000, '1 second'],
    [90_000, '90 seconds'],
    [5_400_000, '90 minutes'],
    [3_600_000, '1 hour'],
    [172_800_000, '2 days'],
  ])('says %i ms as %s', (ms, words) => {
    expect(duration(ms)).toBe(words);
  });
});
