import { readFileSync } from 'node:fs';
import {
  type AnyContract,
  type Format,
  formatOf,
  type JsonSchema,
  recordNameOf,
  schemaFileOf,
  subjectFor,
  topicFor,
  typeOf,
} from '../contracts';
import { NonRetriableError } from '../platform/errors';
import { toDraft07 } from './draft07';
import { exampleHeaders, type Header, type HeaderFacts, headersOf } from './headers';
import { describeSchema, type SchemaInWords } from './schema-words';

/** What the documentation says of a topic. What is not known is not said. */
export interface DocumentedChannel {
  topic: string;
  format: Format;
  partitions?: number;
  maxMessageBytes?: number;
  allowMissingId?: boolean;
}

export interface PartnerInterfaceInput {
  partner: string;
  /** Documents without a channel are left out. */
  contracts: readonly AnyContract[];
  channels: readonly DocumentedChannel[];
  /** Where partners reach the brokers, `host:port`; otherwise a placeholder stands there. */
  bootstrap?: string;
  /** Where partners reach the schema registry. */
  registryUrl?: string;
  /** How the partner's clients say who they are: by account and password, unless told otherwise. */
  authentication?: Authentication;
}

/** As a partner's file names it. */
export type Authentication = 'scram-sha-512' | 'tls';

/** A whole record as it may be seen, its value as JSON. */
export interface Example {
  name: string;
  headers: Record<string, string>;
  payload: unknown;
}

export interface Message extends SchemaInWords {
  /** `orderRequestV1`: name within the documents and anchor of the page. */
  id: string;
  title: string;
  contract: AnyContract;
  type: string;
  ours: boolean;
  format: Format;
  contentType: string;
  /** Subject of its schema, where the format has one. */
  subject: string | undefined;
  recordName: string;
  /** The schema as it is written in its own language. */
  schemaText: string;
  /** The rules that hold in every format, as draft-07. */
  rules: JsonSchema;
  headers: Header[];
  /** Ids of the messages that answer this one, and of the one that it answers. */
  answeredBy: string[];
  answers: string | undefined;
  examples: [Example, ...Example[]];
}

export interface Channel extends DocumentedChannel {
  id: string;
  ours: boolean;
  messages: Message[];
}

/** All that is said of a partner's exchange with us, before it takes the form of AsyncAPI or of a page. */
export interface PartnerInterface extends Pick<PartnerInterfaceInput, 'partner' | 'bootstrap' | 'registryUrl'> {
  channels: Channel[];
  authentication: Authentication;
}

const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  avro: 'application/avro',
  protobuf: 'application/protobuf',
  'json-schema': 'application/json',
  json: 'application/json',
};

const camelCase = (text: string) => text.replaceAll(/[.-]+(\w)/g, (_, letter: string) => letter.toUpperCase());
export const messageId = (contract: AnyContract): string => camelCase(`${contract.name}.v${contract.version}`);
const titleOf = ({ name }: AnyContract) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');

/** Throws `channel-unknown` when no document has a channel, `schema-unsupported` when a schema can't be told. */
export function describePartner(input: PartnerInterfaceInput): PartnerInterface {
  const facts = new Map(input.channels.map((channel) => [channel.topic, channel]));
  const there = input.contracts.filter((contract) => facts.has(topicFor(contract, input.partner)));
  if (there.length === 0) {
    throw new NonRetriableError('channel-unknown', `Partner ${input.partner} has no channel of any document.`, {
      hint: `Add the partner with "parley partner add ${input.partner}", or name a --format to do without a database.`,
    });
  }
  const byTopic = Map.groupBy(there, (contract) => contract.topic);
  const channels = [...byTopic].map(([template, contracts]): Channel => {
    const channel = facts.get(template.replace('{partner}', input.partner)) as DocumentedChannel;
    return {
      ...channel,
      format: formatOf(contracts[0] as AnyContract, channel.format),
      id: camelCase(template.replace('{partner}.', '')),
      ours: contracts.every(({ direction }) => direction === 'out'),
      messages: contracts.map((contract) => describeMessage(contract, channel, input.partner, there)),
    };
  });
  const { partner, bootstrap, registryUrl, authentication = 'scram-sha-512' } = input;
  return { partner, bootstrap, registryUrl, authentication, channels };
}

function describeMessage(
  contract: AnyContract,
  channel: DocumentedChannel,
  partner: string,
  there: readonly AnyContract[],
): Message {
  const ours = contract.direction === 'out';
  const format = formatOf(contract, channel.format);
  const answeredBy = there.filter(({ answers }) => answers === contract.name);
  if (new Set(answeredBy.map(({ topic }) => topic)).size > 1) {
    throw new NonRetriableError('answers-scattered', `The answers to ${contract.name} are on several topics.`, {
      hint: 'A reply in AsyncAPI names one channel: put them on one topic.',
    });
  }
  const answered = there.find(({ name }) => name === contract.answers);
  const facts: HeaderFacts = {
    contract,
    writer: ours ? 'parley' : partner,
    ours,
    contentType: CONTENT_TYPES[format],
    inExchange: answeredBy.length > 0 || contract.answers !== undefined,
    registered: format !== 'json',
    idOptional: !ours && (channel.allowMissingId ?? false),
  };
  const rules = toDraft07(contract.jsonSchema);
  return {
    id: messageId(contract),
    title: titleOf(contract),
    contract,
    type: typeOf(contract),
    ours,
    format,
    contentType: facts.contentType,
    subject: format === 'json' ? undefined : subjectFor(contract, channel.topic),
    recordName: recordNameOf(contract),
    schemaText:
      format === 'avro' || format === 'protobuf'
        ? readFileSync(schemaFileOf(contract, format), 'utf8')
        : `${JSON.stringify(rules, null, 2)}\n`,
    rules,
    ...describeSchema(contract.jsonSchema),
    headers: headersOf(facts),
    answeredBy: answeredBy.map(messageId),
    answers: answered && messageId(answered),
    examples: examplesOf(facts),
  };
}

function examplesOf(facts: HeaderFacts): [Example, ...Example[]] {
  const { name, examples } = facts.contract;
  const exampleOf = (payload: unknown, index: number): Example => ({
    name: examples.length > 1 ? `${name}-${index + 1}` : name,
    headers: exampleHeaders(facts, payload as Record<string, unknown>, index),
    payload,
  });
  const [first, ...others] = examples;
  return [exampleOf(first, 0), ...others.map((payload, index) => exampleOf(payload, index + 1))];
}
