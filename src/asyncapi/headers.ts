import { hash } from 'node:crypto';
import {
  type AnyContract,
  type Envelope,
  errorReport,
  type ErrorReport,
  type JsonSchema,
  toHeaders,
  typeOf,
} from '../contracts';

/** A record header of one message. */
export interface Header {
  name: string;
  required: boolean;
  description: string;
  schema: JsonSchema;
}

/** What decides about a message's headers. */
export interface HeaderFacts {
  contract: AnyContract;
  /** `parley`, or the partner's id. */
  writer: string;
  ours: boolean;
  contentType: string;
  /** Is it a request that is answered, or an answer? */
  inExchange: boolean;
  /** Does the value name its schema's id? */
  registered: boolean;
  /** May the partner leave out `ce_id`? */
  idOptional: boolean;
}

const ID_TEXT = { type: 'string', minLength: 1, maxLength: 255 } as const;
const URI = { type: 'string', minLength: 1, format: 'uri-reference' } as const;
const REPEATED = 'Unique on this topic, and the same when the record is sent again: what makes a repeat harmless.';
const PLACED = 'Without it a record is told by its place in the topic, and sending it again is a second document.';

const header = (name: string, required: boolean, schema: JsonSchema, description: string): Header => ({
  name,
  required,
  description,
  schema,
});

/** The CloudEvents attributes of a message as its writer sets them; other headers may be there and are ignored. */
export function headersOf(facts: HeaderFacts): Header[] {
  const { contract, ours, contentType, registered, idOptional } = facts;
  const dataSchema = header('ce_dataschema', false, URI, "Names the schema; the value's schema id is what counts.");
  return [
    header('ce_specversion', true, { type: 'string', const: '1.0' }, 'Version of CloudEvents.'),
    header('ce_id', !idOptional, ID_TEXT, idOptional ? `${REPEATED} ${PLACED}` : REPEATED),
    header('ce_source', true, URI, 'Which system wrote it. Informs; whose a record is follows from its topic alone.'),
    header('ce_type', true, { type: 'string', const: typeOf(contract) }, 'The document and its version.'),
    header('ce_time', ours, { type: 'string', format: 'date-time', maxLength: 255 }, 'When it was written; RFC 3339.'),
    header('ce_subject', ours, { type: 'string' }, `The document's \`${contract.key}\`, as in the record key.`),
    ...relationsOf(facts),
    ...(registered ? [dataSchema] : []),
    header('content-type', true, { type: 'string', const: contentType }, 'How the value is encoded.'),
    header('traceparent', false, { type: 'string' }, 'W3C trace context of this hop, where its writer traces.'),
  ];
}

/** What it belongs to: a request to its exchange, an answer also to its request, a report to what it is about. */
function relationsOf({ contract, ours, inExchange }: HeaderFacts): Header[] {
  if (isReport(contract)) {
    const about = 'of the record that it is about, where that has a fit one.';
    return [
      header('ce_correlationid', false, ID_TEXT, `The \`ce_correlationid\` ${about}`),
      header('ce_causationid', false, ID_TEXT, `The \`ce_id\` ${about}`),
    ];
  }
  if (!inExchange) return [];
  const exchange = header('ce_correlationid', true, ID_TEXT, exchangeWords(contract, ours));
  if (contract.answers === undefined) return [exchange];
  return [exchange, header('ce_causationid', ours, ID_TEXT, `The \`ce_id\` of the ${contract.answers}.`)];
}

function exchangeWords(contract: AnyContract, ours: boolean): string {
  if (contract.answers === undefined) {
    return 'Names the exchange: chosen by who asks, unique among all of its requests, and copied into every answer.';
  }
  const copied = `Copied from the ${contract.answers} that this answers.`;
  return ours ? copied : `${copied} An answer without it, or with one that we never gave this partner, is refused.`;
}

/** It stands outside of every exchange, and names the one of what it is about. */
const isReport = ({ name }: AnyContract) => name === errorReport.name;

/** The headers of an example, through the same mapper that writes real ones. An answer's n-th example answers the request's n-th. */
export function exampleHeaders(facts: HeaderFacts, document: Readonly<Record<string, unknown>>, index: number) {
  const { contract, writer, contentType, inExchange } = facts;
  const request = contract.answers ?? contract.name;
  const time = document['issuedAt'];
  const envelope: Envelope = {
    id: exampleId(`${contract.name} ${index}`),
    source: `/${writer}`,
    type: typeOf(contract),
    time: typeof time === 'string' ? time : '2026-02-03T04:06:01.000Z',
    subject: String(document[contract.key]),
    contentType,
    ...(isReport(contract)
      ? aboutOf(document as unknown as ErrorReport)
      : {
          correlationId: inExchange ? exampleId(`exchange ${index} of ${request}`) : undefined,
          causationId: contract.answers === undefined ? undefined : exampleId(`${request} ${index}`),
        }),
  };
  return toHeaders(envelope);
}

const aboutOf = ({ correlationId, messageId }: ErrorReport) => ({ correlationId, causationId: messageId });

/** A UUID (version 8, RFC 9562) that is the same for the same name in every run. */
function exampleId(name: string): string {
  const hex = hash('sha256', name, 'hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(12, 15)}`, `8${hex.slice(15, 18)}`, hex.slice(18, 30)].join(
    '-',
  );
}
