import type { GroupMember } from '../../messaging/kafka';
import { type Database, query } from '../../platform/database';
import { groupPrefixOf } from '../onboarding/domain/rights';
import type { Account } from './account';

/**
 * Notes which accounts were seen. A broker tells nobody whose connections it has (KIP-1329 would), so this is what there is: members of the partner's
 * consumer groups, in which rights let nobody else, that call themselves by the account's name (`client.id`: `acme.1` or `acme.1-…`). A
 * client that only writes, or that calls itself otherwise, is never seen: that none was seen proves nothing, disabling does.
 */
export async function noteSeen(
  database: Database,
  accounts: readonly Pick<Account, 'partner' | 'username'>[],
  members: readonly GroupMember[],
  now: Date,
): Promise<void> {
  const seen = accounts.flatMap(({ partner, username }) => {
    const member = members.find(
      ({ group, clientId }) => group.startsWith(groupPrefixOf(partner)) && isOf(clientId, username),
    );
    return member ? [{ username, host: member.host }] : [];
  });
  if (seen.length === 0) return;
  await database.transaction((tx) =>
    query(
      tx,
      `UPDATE partner_account a SET last_seen_at = :now, last_seen_from = u.host
       FROM unnest(:names::text[], :hosts::text[]) u(name, host) WHERE a.username = u.name AND a.state <> 'retired'`,
      { now, names: seen.map(({ username }) => username), hosts: seen.map(({ host }) => host) },
    ),
  );
}

const isOf = (clientId: string, username: string): boolean =>
  clientId === username || clientId.startsWith(`${username}-`);
