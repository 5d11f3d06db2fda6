import { Admin } from '@platformatic/kafka';
import { topicFor } from '../../contracts';
import type { Access } from '../access';
import { connectionOf } from '../connection';
import { ANSWERS } from '../company/heard';

/** Which of a partner's topics a consumer group is reading now; none where it has no members, or can't be seen. */
export async function topicsReadBy(access: Access, group: string, partner: string): Promise<string[]> {
  const admin = new Admin({ ...connectionOf(access, `certification-${partner}`), retries: 1 });
  admin.on('error', () => undefined);
  try {
    const members = [...((await admin.describeGroups({ groups: [group] })).get(group)?.members.values() ?? [])];
    const read = new Set(members.flatMap(({ assignments }) => [...(assignments?.keys() ?? [])]));
    const own = new Set(ANSWERS.map((contract) => topicFor(contract, partner)));
    return [...own].filter((topic) => read.has(topic));
  } finally {
    await admin.close().catch(() => undefined);
  }
}
