import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import { FORMATS, OWN_SYSTEMS } from '../../src/contracts';
import { documentsFor, filesFor, SIDES } from './asyncapi-fixtures';

/**
 * The one file that loads the parser, which is heavy. It knows AsyncAPI 3.1 and holds a document against its schema and its
 * rules, but looks neither into payloads nor at examples in version 3: `asyncapi-checks` does.
 */
describe("the AsyncAPI parser finds nothing to say about a partner's documents", () => {
  const parser = new Parser();
  const serious = async (text: string) => {
    const { document, diagnostics } = await parser.parse(text);
    const found = diagnostics
      .filter(({ severity }) => Number(severity) <= Number(DiagnosticSeverity.Warning))
      .map(({ code, message, path }) => `${code} ${message} ${path.join('.')}`);
    return { version: document?.version(), found };
  };

  it.each(FORMATS.flatMap((format) => SIDES.map((side) => [format, side] as const)))('%s, %s', async (format, side) => {
    for (const partner of ['acme', OWN_SYSTEMS]) {
      const text = filesFor(format, partner).get(`${partner}.${side}.yaml`) ?? '';
      expect([partner, await serious(text)]).toEqual([partner, { version: '3.1.0', found: [] }]);
    }
  });

  it('and sees what breaks the specification', async () => {
    const { parley } = documentsFor('avro');
    Object.assign(parley.channels['errorsV1'] ?? {}, { bindings: { kafka: { partitions: 0 } } });
    parley.operations['sendErrorReportV1']?.messages.push({
      $ref: '#/channels/ordersRequestV1/messages/orderRequestV1',
    });
    const { found } = await serious(JSON.stringify(parley));
    expect(found.join('\n')).toMatch(/asyncapi-document-(un)?resolved.*channels\.errorsV1/);
    expect(found.join('\n')).toContain('asyncapi3-operation-messages-from-referred-channel');
  });
});
