import { CONTRACTS, contractsFor, FORMATS, OWN_SYSTEMS } from '../../src/contracts';
import { faultsOf } from './asyncapi-checks';
import { type Documents, documentsFor, filesFor, type MessageObject } from './asyncapi-fixtures';

/** What plants a fault gets at a message as plainly as the generator writes it. */
const message = (documents: Documents, id: string) => documents.parley.components.messages[id] as MessageObject;

describe("a partner's documents", () => {
  it.each(FORMATS)('are sound where a parser does not look, for channels in %s', (format) => {
    expect(faultsOf(documentsFor(format))).toEqual([]);
    expect(faultsOf(documentsFor(format, OWN_SYSTEMS))).toEqual([]);
  });

  it.each(FORMATS.flatMap((format) => ['acme', OWN_SYSTEMS].map((partner) => [format, partner] as const)))(
    'hold every document, on its channel and in one operation or reply, for channels in %s, of %s',
    (format, partner) => {
      const { parley } = documentsFor(format, partner);
      const types = Object.values(parley.components.messages).map(({ name }) => name);
      expect(types.toSorted()).toEqual(
        contractsFor(CONTRACTS, partner)
          .map(({ name }) => `parley.${name}.v1`)
          .toSorted(),
      );
      const used = Object.values(parley.operations).flatMap(({ messages, reply }) => [
        ...messages,
        ...(reply?.messages ?? []),
      ]);
      const there = Object.entries(parley.channels).flatMap(([channel, { messages }]) =>
        Object.keys(messages).map((id) => `#/channels/${channel}/messages/${id}`),
      );
      expect(used.map(({ $ref }) => $ref).toSorted()).toEqual(there.toSorted());
    },
  );

  it('speak of our own systems in theirs alone', () => {
    const [theirs, partners] = [OWN_SYSTEMS, 'acme'].map((partner) =>
      [...filesFor('avro', partner).values()].join('\n'),
    );
    expect(partners).not.toMatch(/notification/i);
    expect(theirs).not.toMatch(/orders\.company|shipments\.|order-request|despatch/);
  });

  it('are the same byte for byte each time', () => {
    expect([...filesFor('avro')]).toEqual([...filesFor('avro')]);
  });
});

describe('a planted fault is seen', () => {
  const planted = (plant: (documents: Documents) => void, format: (typeof FORMATS)[number] = 'avro') => {
    const documents = documentsFor(format);
    plant(documents);
    return faultsOf(documents).join('\n');
  };

  it('an address beside a fixed reply channel', () => {
    const faults = planted(({ parley }) => {
      Object.assign(parley.operations['sendOrderRequestV1']?.reply ?? {}, {
        address: { location: '$message.header#/kafka_replyTopic' },
      });
    });
    expect(faults).toContain('reply address beside a channel: sendOrderRequestV1');
  });

  it('a reference to nothing', () => {
    const faults = planted(({ partner }) => {
      Object.assign(partner.servers['kafka'] ?? {}, { security: [{ $ref: '#/components/securitySchemes/gone' }] });
    });
    expect(faults).toContain('dangling: #/components/securitySchemes/gone');
  });

  it('an Avro schema that does not compile', () => {
    const faults = planted((documents) => {
      Object.assign(message(documents, 'orderRequestV1').payload.schema as object, {
        fields: [{ name: 'a', type: 'b' }],
      });
    });
    expect(faults).toContain('schema: orderRequestV1 undefined type name');
  });

  it('a Protobuf schema that does not parse', () => {
    const faults = planted((documents) => {
      const { payload } = message(documents, 'orderRequestV1');
      payload.schema = String(payload.schema).replace('= 1;', '= ;');
    }, 'protobuf');
    expect(faults).toContain('schema: orderRequestV1 illegal');
  });

  it.each(['json-schema', 'json'] as const)('a JSON Schema that is none (%s)', (format) => {
    const faults = planted((documents) => {
      Object.assign(message(documents, 'orderRequestV1').payload.schema as object, { required: 'orderNumber' });
    }, format);
    expect(faults).toContain('schema: orderRequestV1');
  });

  it.each(FORMATS)('an example that breaks a rule (%s)', (format) => {
    const faults = planted((documents) => {
      Object.assign(message(documents, 'orderRequestV1').examples[0]?.payload ?? {}, { currency: 'euro' });
    }, format);
    expect(faults).toContain('example breaks the rules: order-request');
  });

  it.each(['avro', 'protobuf'] as const)('an example with a member that %s does not carry', (format) => {
    const faults = planted((documents) => {
      Object.assign(message(documents, 'orderRequestV1').examples[0]?.payload ?? {}, { colour: 'red' });
    }, format);
    expect(faults).toContain('example changes: order-request');
  });

  it("an example's headers and key", () => {
    const faults = planted((documents) => {
      Object.assign(message(documents, 'orderRequestV1').examples[0]?.headers ?? {}, {
        ce_type: 'x',
        ce_subject: '..',
      });
    });
    expect(faults).toContain("example's headers: order-request");
    expect(faults).toContain("example's key: order-request");
  });

  it('a correlation id that no header holds', () => {
    const faults = planted((documents) => {
      delete message(documents, 'orderResponseV1').headers.properties['ce_correlationid'];
    });
    expect(faults).toContain('no header ce_correlationid: orderResponseV1');
  });

  it('a mirror with another channel, or an action that is not swapped', () => {
    const channel = planted(({ partner }) => {
      Object.assign(partner.channels['errorsV1'] ?? {}, { address: 'errors.acme.v2' });
    });
    expect(channel).toContain('mirror: other channels');
    const action = planted(({ partner }) => {
      Object.assign(partner.operations['receiveErrorReportV1'] ?? {}, { action: 'send' });
    });
    expect(action).toMatch(/mirror: the partner lacks \["receive".*errorsV1/);
  });

  it.each(['orders.acme.response.v1-dlt', '127.0.0.1:9092', 'https://reader:secret@registry.example.com'])(
    'something internal: %s',
    (text) => {
      expect(planted(({ parley }) => Object.assign(parley.servers['kafka'] ?? {}, { description: text }))).toContain(
        'internal: ',
      );
    },
  );
});
