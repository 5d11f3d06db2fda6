import type { PartnerInterface } from '../asyncapi';
import { orderResponse, orderRequest, despatchAdvice, type AnyContract } from '../contracts';
import { REPORT_CODES } from '../platform/http';
import type { KitInput } from './kit';
import type { Values } from './templates';

const FORMAT_NAMES = { avro: 'Avro', protobuf: 'Protobuf', 'json-schema': 'JSON with a schema id', json: 'plain JSON' };

/** What the files of the kit say of this partner. */
export function readmeValues(input: KitInput, { channels }: PartnerInterface, programs: string): Values {
  const { partner, name, account, authority } = input;
  const requests = channelOf(channels, orderRequest);
  const format = requests?.format ?? 'json';
  const isRegistered = format !== 'json';
  return {
    ...{ partner, name, account, programs, format },
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
