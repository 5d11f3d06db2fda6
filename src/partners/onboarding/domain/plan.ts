import type { Acl, Quota } from '../../../messaging/kafka';
import type { PublishStep } from '../../../messaging/evolution';
import type { NewAccount } from '../../accounts';
import type { DesiredTopic, NewChannel } from '../desired';

/** A value that changes; undefined: there is none. */
export interface Difference {
  member: string;
  from: string | undefined;
  to: string | undefined;
}

/** One thing that applying does. `=`: what an earlier version or others made is known from now on; nothing of it changes. */
export type Change = { name: string } & (
  | { op: '+'; kind: 'topic'; topic: DesiredTopic }
  | { op: '~'; kind: 'topic'; differences: readonly Difference[] }
  | { op: '='; kind: 'topic' }
  | { op: '+' | '-'; kind: 'acl'; acl: Acl }
  | { op: '~'; kind: 'quota'; username: string; quota: Quota; differences: readonly Difference[] }
  | { op: '+'; kind: 'subject'; step: PublishStep }
  | { op: '+' | '='; kind: 'user'; account: NewAccount }
  | { op: '+'; kind: 'channel'; channel: NewChannel }
  | { op: '~'; kind: 'channel'; differences: readonly Difference[] }
  | { op: '+'; kind: 'partner' }
  | { op: '~'; kind: 'partner'; differences: readonly Difference[] }
);

/** What stays as it is although it is not what the file says, or is not ours; with `refusal` nothing at all can be applied. */
export interface Note {
  kind: Change['kind'];
  name: string;
  why: string;
  refusal?: { code: string; hint: string };
}

export interface Changes {
  changes: readonly Change[];
  notes: readonly Note[];
}

const ofMember = ({ member, from, to }: Difference): string => `${member} ${from ?? 'none'} → ${to ?? 'none'}`;

/** What it is about, after its sign and kind: `orders.acme.request.v1 retention.ms 1 → 2`. */
export function detailOf(change: Change): string {
  const { name } = change;
  if ('differences' in change) return `${name} ${change.differences.map(ofMember).join(', ')}`;
  switch (change.kind) {
    case 'topic':
      return change.op === '+' ? `${name} (${topicWords(change.topic)})` : `${name} (made by an earlier version: ours)`;
    case 'user':
      return `${name} (${change.account.kind}${change.op === '=' ? ', made elsewhere' : ''})`;
    case 'subject':
      return `${name} (${change.step.subject.schema.format}${change.step.action === 'new' ? '' : ', next version'})`;
    case 'channel':
      return change.op === '+' ? `${name} (${channelWords(change.channel)})` : name;
    case 'acl':
    case 'partner':
      return name;
  }
}

export const lineOf = (change: Change): string => `${change.op} ${change.kind} ${detailOf(change)}`;
export const noteLineOf = ({ kind, name, why }: Note): string => `! ${kind} ${name}: ${why}`;

const topicWords = ({ partitions, replicationFactor, config }: DesiredTopic): string =>
  [
    `${partitions} partitions`,
    `${replicationFactor} ${replicationFactor === 1 ? 'copy' : 'copies'}`,
    ...Object.entries(config).map(([option, value]) => `${option}=${value}`),
  ].join(', ');

const channelWords = ({ direction, format, partitions, maxMessageBytes, allowMissingId }: NewChannel): string =>
  [
    direction === 'out' ? 'we write' : 'they write',
    format,
    `${partitions} partitions`,
    `${maxMessageBytes} bytes`,
    ...(allowMissingId ? ['ids may be missing'] : []),
  ].join(', ');
