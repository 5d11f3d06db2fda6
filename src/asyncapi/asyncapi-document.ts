import { OWN_SYSTEMS } from '../contracts';
import { agreementOf, formatName } from './agreement';
import { messageOf } from './asyncapi-message';
import { operationsOf } from './asyncapi-operation';
import { KAFKA_BINDING, type Json, type Side } from './asyncapi-parts';
import type { Authentication, Channel, PartnerInterface } from './partner-interface';

/** AsyncAPI 3.1.0; the same input gives the same document, member by member. */
export function toAsyncApi(described: PartnerInterface, side: Side): Json {
  const { partner, channels } = described;
  const messages = channels.flatMap((channel) => channel.messages);
  return {
    asyncapi: '3.1.0',
    id: `urn:parley:${partner}:${side}`,
    info: {
      title: titleOf(partner, side),
      version: `${Math.max(...messages.map(({ contract }) => contract.version))}.0.0`,
      description: descriptionOf(described, side),
    },
    servers: { kafka: serverOf(described) },
    channels: Object.fromEntries(channels.map((channel) => [channel.id, channelOf(channel, partner)])),
    operations: Object.fromEntries(channels.flatMap((channel) => operationsOf(channel, described, side))),
    components: {
      messages: Object.fromEntries(messages.map((message) => [message.id, messageOf(message)])),
      correlationIds: {
        exchange: {
          description: 'Names the request and its answers.',
          location: '$message.header#/ce_correlationid',
        },
      },
      securitySchemes: SECURITY_SCHEMES[described.authentication],
    },
  };
}

const SECURITY_SCHEMES: Readonly<Record<Authentication, Json>> = {
  'scram-sha-512': { scram: { type: 'scramSha512', description: "The partner's own account, over TLS." } },
  tls: { x509: { type: 'X509', description: "A certificate of the partner's own, shown in TLS (mTLS)." } },
};

/** How the partner's clients come in. */
export const DOOR_WORDS: Readonly<Record<Authentication, string>> = {
  'scram-sha-512': 'TLS with SCRAM-SHA-512',
  tls: "TLS with a certificate of the partner's own (mTLS)",
};

export function titleOf(partner: string, side: Side): string {
  return side === 'parley' ? `What Parley does with ${partner}` : `What ${partner} implements`;
}

/** The opening words of both forms. */
export function introductionOf(partner: string, side: Side): string {
  const mirror =
    side === 'parley'
      ? `"send" is what Parley sends; ${partner} implements the mirror of it.`
      : `"send" is what ${partner} sends; it is the mirror of what Parley does.`;
  const between =
    partner === OWN_SYSTEMS
      ? `Documents between the company's own systems (${partner}, the partner) and Parley (we, us)`
      : `Business documents between ${partner} (the partner) and the company that runs Parley (we, us)`;
  return `${between} over Kafka. In this document ${mirror}`;
}

function descriptionOf(described: PartnerInterface, side: Side): string {
  const sections = agreementOf(described).map(
    ({ title, items }) => `## ${title}\n\n${items.map((item) => `- ${item}\n`).join('')}`,
  );
  return [`${introductionOf(described.partner, side)}\n`, ...sections].join('\n');
}

function serverOf({ bootstrap, registryUrl, authentication, channels }: PartnerInterface): Json {
  const registered = channels.some(({ format }) => format !== 'json');
  return {
    host: bootstrap ?? '{bootstrap}',
    protocol: 'kafka-secure',
    description: `${DOOR_WORDS[authentication]}.`,
    ...(bootstrap === undefined
      ? {
          variables: {
            bootstrap: { description: 'Host and port of the brokers, as agreed when the partner was added.' },
          },
        }
      : {}),
    security: Object.keys(SECURITY_SCHEMES[authentication]).map((name) => ({
      $ref: `#/components/securitySchemes/${name}`,
    })),
    ...(registered
      ? {
          bindings: {
            kafka: {
              ...(registryUrl === undefined ? {} : { schemaRegistryUrl: registryUrl }),
              schemaRegistryVendor: 'confluent',
              ...KAFKA_BINDING,
            },
          },
        }
      : {}),
  };
}

/** Who writes and reads it, how, under which key. */
export function channelWords({ ours, format, messages, allowMissingId }: Channel, partner: string): string {
  const keys = [...new Set(messages.map(({ contract }) => contract.key))].map((key) => `\`${key}\``).join(' or ');
  const optional = !ours && allowMissingId ? ' Records without `ce_id` are taken.' : '';
  return `${ours ? `Parley writes, ${partner} reads` : `${partner} writes, Parley reads`}. Values are ${formatName(format)}; the record key is ${keys}.${optional}`;
}

function channelOf(channel: Channel, partner: string): Json {
  const { topic, partitions, maxMessageBytes } = channel;
  return {
    address: topic,
    description: channelWords(channel, partner),
    servers: [{ $ref: '#/servers/kafka' }],
    messages: Object.fromEntries(channel.messages.map(({ id }) => [id, { $ref: `#/components/messages/${id}` }])),
    bindings: {
      kafka: {
        topic,
        ...(partitions === undefined ? {} : { partitions }),
        ...(maxMessageBytes === undefined ? {} : { topicConfiguration: { 'max.message.bytes': maxMessageBytes } }),
        ...KAFKA_BINDING,
      },
    },
  };
}
