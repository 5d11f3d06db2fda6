import { type Connection, consumerGroupDescribeV0, describeGroupsV5, listGroupsV5 } from '@platformatic/kafka';
import type { GroupMember } from '../security-types';
import type { SecurityClient } from './security-client';

/** Each broker lists and describes the groups that it coordinates; those that we may not see are left out by it. */
export function membersOf(client: SecurityClient, prefix: string): Promise<GroupMember[]> {
  return client.asked(`list members of groups ${prefix}*`, 'Describe on the cluster', async () => {
    const found = await client.onEach((broker) => membersAt(broker, prefix));
    return found.flat();
  });
}

/** By the raw calls: the client's own decode what members say of themselves, and a member can say anything. */
async function membersAt(broker: Connection, prefix: string): Promise<GroupMember[]> {
  const { groups } = await listGroupsV5.api.async(broker, [], []);
  const named = groups.filter(({ groupId }) => groupId.startsWith(prefix));
  const ids = (type: string) => named.filter(({ groupType }) => groupType === type).map(({ groupId }) => groupId);
  const [classic, modern] = [ids('classic'), ids('consumer')];
  const described = [
    ...(classic.length === 0 ? [] : (await describeGroupsV5.api.async(broker, classic, false)).groups),
    ...(modern.length === 0 ? [] : (await consumerGroupDescribeV0.api.async(broker, modern, false)).groups),
  ];
  return described.flatMap(({ groupId, members }) =>
    members.map(({ clientId, clientHost }) => ({ group: groupId, clientId, host: clientHost.replace(/^\//, '') })),
  );
}
