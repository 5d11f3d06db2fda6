import type { Channel } from '../../messaging/channels';
import { channelsOf } from './desired';
import { type Change, detailOf } from './domain/plan';
import type { PartnerPlan } from './partner-plan';

/** A plan as people and programs see it. */
export interface PlanView {
  planId: string;
  partner: string;
  changes: { op: Change['op']; kind: Change['kind']; name: string; detail: string }[];
  notes: { kind: Change['kind']; name: string; why: string; refuses: boolean }[];
  channels: Pick<Channel, 'topic' | 'direction' | 'format' | 'partitions'>[];
}

export const viewOf = ({ id, spec, changes, notes }: PartnerPlan): PlanView => ({
  planId: id,
  partner: spec.partner,
  changes: changes.map((change) => ({ op: change.op, kind: change.kind, name: change.name, detail: detailOf(change) })),
  notes: notes.map(({ kind, name, why, refusal }) => ({ kind, name, why, refuses: refusal !== undefined })),
  channels: channelsOf(spec).map(({ topic, direction, format, partitions }) => ({
    ...{ topic, direction, format, partitions },
  })),
});
