import type { Acl, AclOperation, Quota } from '../../../messaging/kafka';
import type { PartnerSpec } from '../partner-spec';

/** Who writes a topic; `dead-letters`: we do, and the partner has nothing to do with it. */
export type TopicRole = 'we-write' | 'they-write' | 'dead-letters';

export interface TopicOfPartner {
  topic: string;
  role: TopicRole;
}

const THEIRS: Readonly<Record<TopicRole, readonly AclOperation[]>> = {
  'we-write': ['Describe', 'Read'],
  'they-write': ['Describe', 'Write'],
  'dead-letters': [],
};

const OURS: Readonly<Record<TopicRole, readonly AclOperation[]>> = {
  'we-write': ['Describe', 'DescribeConfigs', 'Write'],
  'they-write': ['Describe', 'DescribeConfigs', 'Read'],
  'dead-letters': ['Describe', 'DescribeConfigs', 'Write'],
};

/** The consumer groups of a partner begin so. Ids have no dots: `partner.acme.` is no beginning of another partner's. */
export const groupPrefixOf = (partner: string): string => `partner.${partner}.`;

/** All that an account of the partner may do at the broker. */
export function aclsOfAccount(username: string, partner: string, topics: readonly TopicOfPartner[]): Acl[] {
  const principal = `User:${username}`;
  const group = { resource: 'group', name: groupPrefixOf(partner), pattern: 'prefixed' } as const;
  return [
    ...topics.flatMap(({ topic, role }) => onTopic(principal, topic, THEIRS[role])),
    ...(['Describe', 'Read'] as const).map((operation) => allow(principal, group, operation)),
  ];
}

/** What Parley's own account needs for this partner, and to read in its group. */
export function aclsOfParley(username: string, consumerGroup: string, topics: readonly TopicOfPartner[]): Acl[] {
  const principal = `User:${username}`;
  const group = { resource: 'group', name: consumerGroup, pattern: 'literal' } as const;
  return [
    ...topics.flatMap(({ topic, role }) => onTopic(principal, topic, OURS[role])),
    ...(['Describe', 'Read'] as const).map((operation) => allow(principal, group, operation)),
  ];
}

/** The limits of each of the partner's accounts. */
export function quotaOf({ quotas }: Pick<PartnerSpec, 'quotas'>): Quota {
  return {
    ...(quotas.producerBytesPerSecond > 0 && { producerByteRate: quotas.producerBytesPerSecond }),
    ...(quotas.consumerBytesPerSecond > 0 && { consumerByteRate: quotas.consumerBytesPerSecond }),
    ...(quotas.requestPercent > 0 && { requestPercentage: quotas.requestPercent }),
  };
}

/** In words, as plans show it and `partner_resource` names it: two ACLs are one exactly when these are. */
export const aclName = ({ principal, permission, operation, resource, pattern, name, host }: Acl): string =>
  [
    `${quoted(principal)} ${permission === 'deny' ? 'must not' : 'may'} ${operation} ${resource}`,
    `${quoted(name)}${pattern === 'prefixed' ? '*' : ''}${host === '*' ? '' : ` from ${quoted(host)}`}`,
  ].join(' ');

/** What others let a name do beyond `own`, as {@link aclName} says it. @param seen rights of that name alone */
export function furtherRights(seen: readonly Acl[], own: readonly Acl[], isOwned: (name: string) => boolean): string[] {
  const names = new Set(own.map(aclName));
  return seen
    .filter(({ permission }) => permission === 'allow')
    .map(aclName)
    .filter((name) => !names.has(name) && !isOwned(name));
}

/** As it is, where that leaves no doubt where it ends. */
const quoted = (text: string): string => (/^[\w.,=:@/-]+$/.test(text) ? text : JSON.stringify(text));

const onTopic = (principal: string, name: string, operations: readonly AclOperation[]): Acl[] =>
  operations.map((operation) => allow(principal, { resource: 'topic', name, pattern: 'literal' }, operation));

const allow = (principal: string, on: Pick<Acl, 'resource' | 'name' | 'pattern'>, operation: AclOperation): Acl => ({
  principal,
  ...on,
  operation,
  permission: 'allow',
  host: '*',
});
