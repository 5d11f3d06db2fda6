import type { JsonSchema } from '../contracts';
import { duration } from './agreement';
import { KAFKA_BINDING, type Json, type Side } from './asyncapi-parts';
import type { Channel, Message, PartnerInterface } from './partner-interface';

/** An operation for each document that isn't an answer to another one here: answers stand in the reply of their request. */
export function operationsOf(channel: Channel, described: PartnerInterface, side: Side): [string, Json][] {
  return channel.messages
    .filter((message) => message.answers === undefined)
    .map((message) => {
      const action = message.ours === (side === 'parley') ? 'send' : 'receive';
      const answers = described.channels.find(({ messages }) =>
        messages.some(({ id }) => message.answeredBy.includes(id)),
      );
      const operation = {
        action,
        summary: message.contract.summary,
        description: operationWords(message, action),
        channel: { $ref: `#/channels/${channel.id}` },
        messages: [reference(channel, message.id)],
        // Only the partner's groups are restricted; which one we read with is ours to change.
        ...(side === 'partner' && (action === 'receive' || answers?.ours)
          ? { bindings: { kafka: { groupId: groupSchema(described.partner), ...KAFKA_BINDING } } }
          : {}),
        // A reply to a fixed channel has no address: the two exclude each other.
        ...(answers
          ? {
              reply: {
                channel: { $ref: `#/channels/${answers.id}` },
                messages: message.answeredBy.map((id) => reference(answers, id)),
              },
            }
          : {}),
      };
      return [`${action}${message.id.charAt(0).toUpperCase()}${message.id.slice(1)}`, operation];
    });
}

const reference = (channel: Channel, id: string) => ({ $ref: `#/channels/${channel.id}/messages/${id}` });

export const groupPrefix = (partner: string): string => `partner.${partner}.`;

const groupSchema = (partner: string): JsonSchema => ({
  type: 'string',
  pattern: `^${groupPrefix(partner).replaceAll('.', '\\.')}`,
  examples: [`${groupPrefix(partner)}parley`],
});

function operationWords({ contract, answeredBy }: Message, action: string): string {
  const again = 'It may be delivered again under the same `ce_id`.';
  if (answeredBy.length === 0) return action === 'send' ? 'Nothing is answered.' : `Nothing is answered. ${again}`;
  const deadline =
    contract.deadlineMs === undefined ? '' : ` The answer is due within ${duration(contract.deadlineMs)}.`;
  return `Each is answered under its \`ce_correlationid\`.${deadline} ${again}`;
}
