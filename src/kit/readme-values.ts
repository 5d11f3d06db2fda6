import type { PartnerInterface } from '../asyncapi';
import { orderResponse, orderRequest, despatchAdvice, type AnyContract } from '../contracts';
import { REPORT_CODES } from '../platform/http';
import type { KitInput } from './kit';
import type { Values } from './templates';

const FORMAT_NAMES = { avro: 'Avro', protobuf: 'Protobuf', 'json-schema': 'JSON with a schema id', json: 'plain JSON' };

/** What the files of the kit say of this partner. */
export function readmeValues(input: KitInput, { channels }: PartnerInterface, programs: string): Values {
  const { partner, name, account, authority, authentication } = input;
  const certificate = authentication === 'tls';
  const requests = channelOf(channels, orderRequest);
  const format = requests?.format ?? 'json';
  const isRegistered = format !== 'json';
  return {
    ...{ partner, name, account, programs, format },
    accountText: quotable(account),
    /** Whom clients come in as without being told: a certificate says it by itself. */
    username: certificate ? '' : quotable(account),
    byPassword: certificate ? undefined : '',
    byCertificate: certificate ? '' : undefined,
    formatName: FORMAT_NAMES[format],
    bootstrap: input.bootstrap ?? 'kafka.example.com:9094',
    registry: isRegistered ? (input.registryUrl ?? 'https://registry.example.com') : undefined,
    registered: isRegistered ? '' : undefined,
    unregistered: isRegistered ? undefined : '',
    sandboxRegistry: isRegistered ? ' --registry http://localhost:8081/apis/ccompat/v7' : '',
    group: `partner.${partner}.app`,
    groupPrefix: `partner.${partner}.`,
    requestTopic: requests?.topic,
    responseTopic: channelOf(channels, orderResponse)?.topic,
    despatchTopic: channelOf(channels, despatchAdvice)?.topic,
    errorTopic: `errors.${partner}.v1`,
    ca: authority === undefined ? undefined : 'ca.pem',
    truststoreType: authority === undefined ? undefined : 'PEM',
    subjectStrategy: isRegistered ? 'io.confluent.kafka.serializers.subject.TopicRecordNameStrategy' : undefined,
    autoRegister: isRegistered ? 'false' : undefined,
    publicAuthority: authority === undefined ? '' : undefined,
    sandboxAccount: `${partner}.1`,
    topics: topicTable(channels),
    codes: codeTable(),
  };
}

/** Within quotes of JavaScript, Python and C#, and in Java's properties: a certificate's subject may hold anything. */
const quotable = (text: string): string =>
  text
    .replaceAll(/[\\'"]/g, '\\$&')
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const channelOf = (channels: PartnerInterface['channels'], contract: AnyContract) =>
  channels.find(({ messages }) => messages.some((message) => message.contract === contract));

function topicTable(channels: PartnerInterface['channels']): string {
  const rows = channels.map(
    ({ topic, ours, format, messages }) =>
      `| \`${topic}\` | ${ours ? 'we' : 'you'} | ${ours ? 'you' : 'we'} | ${messages.map(({ title }) => title).join(', ')} | ${FORMAT_NAMES[format]} |`,
  );
  return ['| topic | who writes | who reads | documents | format |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

function codeTable(): string {
  const rows = Object.entries(REPORT_CODES).map(([code, { title, help }]) => `| \`${code}\` | ${title} | ${help} |`);
  return ['| code | what it means | what to do |', '| --- | --- | --- |', ...rows].join('\n');
}
