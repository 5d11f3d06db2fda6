import { Admin } from '@platformatic/kafka';
import { topicFor } from '../../contracts';
import type { Access } from '../access';
import { connectionOf } from '../connection';
import { ANSWERS } from '../company/heard';

/**
 * Which of a partner's topics a consumer group reads: now, or when it comes back, for it has read them before; between two
 * processes it has no members, and while it is balanced anew they have nothing. Rejects where that can't be seen.
 */
export async function topicsReadBy(access: Access, group: string, partner: string): Promise<string[]> {
  const admin = new Admin({ ...connectionOf(access, `certification-${partner}`), retries: 1 });
  admin.on('error', () => undefined);
  try {
    const members = [...((await admin.describeGroups({ groups: [group] })).get(group)?.members.values() ?? [])];
    const assigned = members.flatMap(({ assignments }) => [...(assignments?.keys() ?? [])]);
    const committed = (await admin.listConsumerGroupOffsets({ groups: [group] })).flatMap(({ topics }) =>
      topics.filter(({ partitions }) => partitions.some(({ committedOffset }) => committedOffset >= 0n)),
    );
    const read = new Set([...assigned, ...committed.map(({ name }) => name)]);
    const own = new Set(ANSWERS.map((contract) => topicFor(contract, partner)));
    return [...own].filter((topic) => read.has(topic));
  } finally {
    await admin.close().catch(() => undefined);
  }
}
